export {
  createProviderClient,
  type UpstreamAnswer,
  type UpstreamLimits,
} from './common-wire/open-upstream.ts';
export { FORWARDED_MEMBERS, type FormFields, kindOf, readRequestId, recordedRequestId } from './provider-kinds.ts';
export type { RouteGateLimits } from './route-gate.ts';
export { createRouteGates, type RouteGates } from './route-gates.ts';
export { bodyForRoute, type RouteRequest, sendToRoute, type UpstreamDeps } from './send-to-route.ts';
export { failureToReport, tryInOrder } from './try-in-order.ts';
