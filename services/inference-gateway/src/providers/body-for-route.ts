import type { TokenRoute } from '../routes/index.ts';
import { REWRITTEN_MEMBERS, type RequestBody, toUpstreamBody } from '../wire/index.ts';
import { kindOf, RENAMED_MEMBERS } from './kind-of.ts';

/** Members of a request whose offsets must be known to forward it to any kind of provider. */
export const FORWARDED_MEMBERS: ReadonlySet<string> = new Set([...REWRITTEN_MEMBERS, ...RENAMED_MEMBERS]);

/** Circumstances of a request that its body does not tell. */
export interface BodyOptions {
  readonly isStreamed: boolean;
  /** Limit of the output, for a request without its own. */
  readonly outputTokensMax?: number | undefined;
}

/** A request as the provider of a route gets it, asking for the usage at the end of a stream. */
export const bodyForRoute = (
  route: TokenRoute,
  body: RequestBody,
  { isStreamed, outputTokensMax }: BodyOptions,
): Buffer[] => {
  const { memberNames, outputLimitMember, alwaysReportsUsage } = kindOf(route.provider);
  return toUpstreamBody(body, {
    model: route.deployment,
    requestsUsage: isStreamed && !alwaysReportsUsage,
    outputTokensMax,
    outputLimitMember,
    memberNames,
  });
};
