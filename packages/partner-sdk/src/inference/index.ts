export { serviceErrorCodes } from '../generated/contract.ts';
export type { ChatChunk, ChatCompletion, ChatMessage, ChatRequest, ContentPart } from './chat.ts';
export type { ChatStream } from './chat-stream.ts';
export type { SdkErrorCode, ServiceErrorCode, SvcErrorCode } from './error-codes.ts';
export type { Transcription, TranscriptionRequest } from './svc-client.ts';
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
  type Usage,
  type WithRequestId,
} from './svc-client.ts';
export {
  AppLimitError,
  OutcomeUnknownError,
  StreamInterruptedError,
  SvcError,
  type SvcErrorParts,
  ValidationFailedError,
  type ValidationFault,
} from './svc-error.ts';
