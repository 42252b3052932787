export {
  type BrowserApp,
  type BrowserAppOptions,
  type BrowserConnection,
  createBrowserApp,
  type PageLike,
} from './browser-app.ts';
export { type ConnectDeviceOptions, connectDevice, type DevicePrompt } from './connect/connect-device.ts';
export { ConnectError, type ConnectErrorReason } from './connect/connect-error.ts';
export {
  type BeginOptions,
  type BudgetProposal,
  type ConnectedUser,
  ConnectionEndedError,
  type Connector,
  type ConnectorOptions,
  type ConnectSession,
  type ConnectStart,
  createConnector,
} from './connect/connector.ts';
export { createDpopFetch, type DpopFetchOptions } from './connect/create-dpop-fetch.ts';
export type { GrantedBudget, OAuthClientOptions, TokenSet } from './connect/token-request.ts';
export { serviceErrorCodes } from './generated/contract.ts';
export type { ChatChunk, ChatCompletion, ChatMessage, ChatRequest, ContentPart } from './inference/chat.ts';
export type { ChatStream } from './inference/chat-stream.ts';
export {
  type BilledCallOptions,
  type CallOptions,
  type Capabilities,
  type ChatCallOptions,
  createSvcClient,
  paths,
  type RequestUsage,
  remainingBudgetMicros,
  type SvcClient,
  type SvcClientOptions,
  type Transcription,
  type TranscriptionRequest,
  type Usage,
  type WithRequestId,
} from './inference/svc-client.ts';
export type { SdkErrorCode, ServiceErrorCode, SvcErrorCode } from './inference/svc-error.ts';
export {
  AppLimitError,
  OutcomeUnknownError,
  StreamInterruptedError,
  SvcError,
  type SvcErrorParts,
  ValidationFailedError,
  type ValidationFault,
} from './inference/svc-error.ts';
export type { PublicKeySet, SignatureFault, Signer } from './signed/verify-signed-claims.ts';
export {
  type ProvenanceClaims,
  type ProvenanceFault,
  ProvenanceRejectedError,
  type ReceiptClaims,
  ReceiptRejectedError,
  verifyProvenance,
  verifyReceipt,
} from './signed/verify-signed-claims.ts';
export type { StoredTokens, TokenStore } from './user-tokens.ts';
export {
  type AccessTokenRequest,
  type AccessTokenSource,
  createMemoryTokenStore,
  createUserTokens,
  type UserTokens,
  type UserTokensOptions,
} from './user-tokens.ts';
