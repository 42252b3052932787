export { findParameterFault, knownScopes } from './adapter.ts';
export {
  type DeviceRequestRecord,
  decideDeviceRequest,
  deleteDeviceRequestsExpiredBefore,
  findAppOfApprovedDevice,
  findDeviceRequest,
  findDeviceRequestByUserCode,
} from './device-code-queries.ts';
export { issueCode } from './issue-code.ts';
export { UNUSED_CODE_KEPT_MS } from './lifetimes.ts';
export { createOauthServer, type OauthServer } from './oauth-server.ts';
export { digestOpaqueValue, newCode } from './opaque-value.ts';
export { deleteExpiredRequestsAndProofs } from './pushed-request-queries.ts';
export { deleteUnusedCodesBefore, findCodeState } from './queries.ts';
export { isPushedRequest, oidcRoutes, preparePushedRequest } from './routes.ts';
