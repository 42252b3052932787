export {
  capabilitiesSchema,
  planReferenceSchema,
  requestUsageSchema,
  serviceErrorCodes,
  servicesSchema,
  subscriptionStatusSchema,
  usageSchema,
} from '../generated/contract.ts';
export {
  type ChatChunk,
  type ChatCompletion,
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  chatChunkSchema,
  chatCompletionSchema,
} from './chat.ts';
export type { ChatStream } from './chat-stream.ts';
export type { SdkErrorCode, ServiceErrorCode, SvcErrorCode } from './error-codes.ts';
export { paths } from './paths.ts';
export { errorBodySchema, validationErrorSchema } from './read-error.ts';
export {
  type BilledCallOptions,
  type CallOptions,
  createSvcClient,
  type SvcClient,
  type SvcClientOptions,
  type WithRequestId,
} from './svc-client.ts';
export {
  OutcomeUnknownError,
  StreamInterruptedError,
  SvcError,
  type SvcErrorParts,
  ValidationFailedError,
  type ValidationFault,
} from './svc-error.ts';
export { type Transcription, type TranscriptionRequest, transcriptionSchema } from './transcription.ts';
export type { Capabilities, RequestUsage, Usage } from './usage.ts';
