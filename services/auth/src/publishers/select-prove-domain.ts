import { createSystemLookup, type PinnedAgent, parseAllowTargets } from '@svc/destinations';
import { createProveDomain, createResolveTxt, type ProveDomain, withSandboxDomains } from './prove-domain.ts';

/** Returns the method set by PUBLISHER_PROOFS, on the system's name servers and public addresses only. */
export const selectProveDomain = (method: 'public' | 'sandbox', agent: PinnedAgent): ProveDomain => {
  const proveDomain = createProveDomain({
    resolveTxt: createResolveTxt(),
    lookup: createSystemLookup(),
    agent,
    allowTargets: parseAllowTargets([]),
  });
  return method === 'sandbox' ? withSandboxDomains(proveDomain) : proveDomain;
};
