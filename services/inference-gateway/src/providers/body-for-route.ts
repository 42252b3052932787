import type { TokenRoute } from '../routes/index.ts';
import { REWRITTEN_MEMBERS, type RequestBody, toUpstreamBody } from '../wire/index.ts';
import { kindOf, RENAMED_MEMBERS } from './kind-of.ts';

/** Members of a request that some kind of provider needs rewritten, so their offsets must be known. */
export const FORWARDED_MEMBERS: ReadonlySet<string> = new Set([...REWRITTEN_MEMBERS, ...RENAMED_MEMBERS]);

export interface BodyOptions {
  readonly isStreamed: boolean;
  /** Output limit for a request without its own. */
  readonly outputTokensMax?: number | undefined;
}

/** Returns the body for a route's provider. It requests usage at the end of a stream. */
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
