export { type ConnectDeviceOptions, connectDevice, type DevicePrompt } from './connect-device.ts';
export { ConnectError, type ConnectErrorReason } from './connect-error.ts';
export type { BudgetProposal } from './connector.ts';
export {
  type BeginOptions,
  type ConnectedUser,
  ConnectionEndedError,
  type Connector,
  type ConnectorOptions,
  type ConnectSession,
  type ConnectStart,
  createConnector,
} from './connector.ts';
export { createDpopFetch, type DpopFetchOptions } from './create-dpop-fetch.ts';
export type { OAuthClientOptions } from './token-request.ts';
export type { GrantedBudget, TokenSet } from './token-set.ts';
