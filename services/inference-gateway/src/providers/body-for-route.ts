import type { TokenRoute } from '../routes/index.ts';
import { REWRITTEN_MEMBERS, type RequestBody, toUpstreamBody } from '../wire/index.ts';
import { kindOf, RENAMED_MEMBERS } from './kind-of.ts';

/** Members of a request whose offsets must be known to forward it to any kind of provider. */
export const FORWARDED_MEMBERS: ReadonlySet<string> = new Set([...REWRITTEN_MEMBERS, ...RENAMED_MEMBERS]);

/** A request as the provider of a route gets it, asking for the usage at the end of a stream. */
export const bodyForRoute = (route: TokenRoute, body: RequestBody, isStreamed: boolean): Buffer[] => {
  const { memberNames, tellsUsageUnasked } = kindOf(route.provider);
  return toUpstreamBody(body, {
    model: route.deployment,
    mustTellUsage: isStreamed && !tellsUsageUnasked,
    memberNames,
  });
};
