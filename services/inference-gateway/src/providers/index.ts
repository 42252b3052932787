export {
  createProviderClient,
  type UpstreamLimits,
  type UpstreamResponse,
} from './open-upstream.ts';
export { FORWARDED_MEMBERS, type FormFields, kindOf, readRequestId, recordedRequestId } from './provider-kinds.ts';
export type { RouteGateLimits } from './route-gates.ts';
export { createRouteGates, type RouteGates } from './route-gates.ts';
export {
  bodyForRoute,
  failureToReport,
  type RouteRequest,
  sendToRoute,
  tryInOrder,
  type UpstreamDeps,
} from './send-to-route.ts';
