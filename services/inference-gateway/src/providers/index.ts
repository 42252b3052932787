export * from './common-wire/index.ts';
export type { FormFields, RequestIdHeaders } from './provider-kind.ts';
export type { RouteGateLimits } from './route-gate.ts';
export { createRouteGates, type RouteGates } from './route-gates.ts';
export {
  bodyForRoute,
  FORWARDED_MEMBERS,
  kindOf,
  type RouteRequest,
  sendToRoute,
  type UpstreamDeps,
} from './send-to-route.ts';
export { failureToReport, tryInOrder } from './try-in-order.ts';
