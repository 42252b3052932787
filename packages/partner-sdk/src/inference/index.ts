export { serviceErrorCodes } from '../generated/contract.ts';
export type { ChatChunk, ChatCompletion, ChatMessage, ChatRequest, ContentPart } from './chat.ts';
export type { ChatStream } from './chat-stream.ts';
export type { SdkErrorCode, ServiceErrorCode, SvcErrorCode } from './error-codes.ts';
export { paths } from './paths.ts';
export {
  type BilledCallOptions,
  type CallOptions,
  type ChatCallOptions,
  createSvcClient,
  type SvcClient,
  type SvcClientOptions,
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
export type { Transcription, TranscriptionRequest } from './transcription.ts';
export { type Capabilities, type RequestUsage, remainingBudgetMicros, type Usage } from './usage.ts';
