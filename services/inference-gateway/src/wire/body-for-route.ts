import { kindOf } from '../providers/index.ts';
import type { TokenRoute } from '../routes/index.ts';
import { renameMembers } from './rename-members.ts';
import { type RequestBody, toUpstreamBody } from './upstream-body.ts';

/** A request as the provider of a route gets it, which is to tell its usage at the end of a stream. */
export const bodyForRoute = (route: TokenRoute, body: RequestBody, isStreamed: boolean): Buffer => {
  const { memberNames, tellsUsageUnasked } = kindOf(route.provider);
  return toUpstreamBody(renameMembers(body, memberNames), {
    model: route.deployment,
    mustTellUsage: isStreamed && !tellsUsageUnasked,
  });
};
