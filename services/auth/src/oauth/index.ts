export { findParameterFault, knownScopes } from './authorize-parameters.ts';
export { digestOpaqueValue, newCode, UNUSED_CODE_KEPT_MS } from './codes-and-tokens.ts';
export {
  type DeviceRequestRecord,
  decideDeviceRequest,
  deleteDeviceRequestsExpiredBefore,
  findAppOfApprovedDevice,
  findDeviceRequest,
  findDeviceRequestByUserCode,
} from './device-codes.ts';
export { createOauthServer } from './oauth-server.ts';
export { deleteExpiredRequestsAndProofs } from './pushed-requests.ts';
export { isPushedRequest, oauthRoutes, preparePushedRequest } from './routes.ts';
export { deleteUnusedCodesBefore, findCodeState, issueCode } from './token-queries.ts';
