import type { z } from 'zod';
import { readServerUrl } from '../server-url.ts';
import type { AccessTokenSource } from '../tokens/index.ts';
import { type ChatCompletion, type ChatRequest, chatCompletionSchema } from './chat.ts';
import { type ChatStream, createChatStream } from './chat-stream.ts';
import { paths } from './paths.ts';
import { type OutgoingRequest, requestJson, sendRequest, type Transport } from './send-request.ts';
import {
  type Transcription,
  type TranscriptionRequest,
  toTranscriptionForm,
  transcriptionSchema,
} from './transcription.ts';
import {
  type Capabilities,
  capabilitiesSchema,
  type RequestUsage,
  requestUsageSchema,
  type Usage,
  usageSchema,
} from './usage.ts';

/** For what only reads. */
const READ_TIMEOUT_MS = 30_000;
/** For whole answers of inference: just below what Node's `fetch` itself waits for the head of an answer. */
const INFERENCE_TIMEOUT_MS = 290_000;
/** For the first byte of a stream and for every silence within it. The service itself gives a provider 120 s. */
const STREAM_IDLE_TIMEOUT_MS = 150_000;
const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;

/** Where the service is and whose tokens to use. */
export interface SvcClientOptions {
  /** The service's base URL, without `/v1`. */
  readonly baseUrl: string;
  /** The tokens of one user: `userTokens.of(svcUserId)`. */
  readonly tokens: AccessTokenSource;
  /** Allows http to a host that is not loopback. Never in production. */
  readonly allowInsecure?: boolean | undefined;
  /** Another `fetch`, for instance one with a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Gives the call up. A request that was sent already is served, and billed, all the same. */
  readonly signal?: AbortSignal | undefined;
  /** For the whole answer; of a stream, for its beginning and for each silence. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a call that costs something. */
export interface BilledCallOptions extends CallOptions {
  /**
   * At most 255 characters. A second request with the same key is not served: it answers `duplicate_request`, and
   * `details` of that error tell the `request_id` and `state` of the first.
   */
  readonly idempotencyKey?: string | undefined;
}

/** What the service called the request; `requestUsage` takes it. */
export interface WithRequestId {
  readonly requestId: string | undefined;
}

/** Calls the service for one user, on that user's subscription. Answers are as they are on the wire. */
export interface SvcClient {
  chat(request: ChatRequest, options?: BilledCallOptions): Promise<ChatCompletion & WithRequestId>;
  /** Sent at the first step of the iteration, or by `opened()`. Ends only after `[DONE]`; otherwise it throws. */
  streamChat(request: ChatRequest, options?: BilledCallOptions): ChatStream;
  transcribe(request: TranscriptionRequest, options?: BilledCallOptions): Promise<Transcription & WithRequestId>;
  capabilities(options?: CallOptions): Promise<Capabilities>;
  /** Shared limits and use over all apps. */
  usage(options?: CallOptions): Promise<Usage>;
  /** What became of a request. */
  requestUsage(requestId: string, options?: CallOptions): Promise<RequestUsage>;
}

/**
 * Makes a client for one user. Every method throws `SvcError` or a subclass of it, `ConnectionEndedError` where the user must
 * connect again, or the reason of an aborted signal.
 */
export const createSvcClient = (options: SvcClientOptions): SvcClient => {
  const transport: Transport = {
    baseUrl: readServerUrl(options.baseUrl, 'baseUrl', options.allowInsecure),
    tokens: options.tokens,
    fetch: options.fetch ?? fetch,
  };
  return {
    chat: async (request, call = {}) =>
      requestBilled(transport, chatRequest({ ...request, stream: false }, call), chatCompletionSchema),
    streamChat: (request, call = {}) =>
      createChatStream(async () => sendRequest(transport, streamRequest(request, call))),
    transcribe: async (request, call = {}) =>
      requestBilled(transport, billed(paths.transcriptions, toTranscriptionForm(request), call), transcriptionSchema),
    capabilities: (call = {}) => read(transport, paths.capabilities, capabilitiesSchema, call),
    usage: (call = {}) => read(transport, paths.usage, usageSchema, call),
    requestUsage: (requestId, call = {}) => read(transport, paths.requestUsage(requestId), requestUsageSchema, call),
  };
};

const read = async <S extends z.ZodType>(
  transport: Transport,
  path: string,
  schema: S,
  call: CallOptions,
): Promise<z.infer<S>> => {
  const { signal, timeoutMs = READ_TIMEOUT_MS } = call;
  return (await requestJson(transport, { method: 'GET', path, isBilled: false, signal, timeoutMs }, schema)).answer;
};

const requestBilled = async <S extends z.ZodType<object>>(
  transport: Transport,
  request: OutgoingRequest,
  schema: S,
): Promise<z.infer<S> & WithRequestId> => {
  const { answer, requestId } = await requestJson(transport, request, schema);
  return { ...answer, requestId };
};

const billed = (path: string, body: string | FormData, call: BilledCallOptions): OutgoingRequest => {
  const { idempotencyKey, signal, timeoutMs = INFERENCE_TIMEOUT_MS } = call;
  if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey)) {
    throw new TypeError('idempotencyKey must be 1 to 255 printable ASCII characters');
  }
  const headers = { 'idempotency-key': idempotencyKey };
  return { method: 'POST', path, headers, body, isBilled: true, signal, timeoutMs };
};

const chatRequest = (body: ChatRequest & { stream: boolean }, call: BilledCallOptions): OutgoingRequest => {
  const request = billed(paths.chat, JSON.stringify(body), call);
  return { ...request, headers: { ...request.headers, 'content-type': 'application/json' } };
};

const streamRequest = (body: ChatRequest, call: BilledCallOptions): OutgoingRequest => {
  const timeoutMs = call.timeoutMs ?? STREAM_IDLE_TIMEOUT_MS;
  const request = chatRequest({ ...body, stream: true }, { ...call, timeoutMs });
  return { ...request, headers: { ...request.headers, accept: 'text/event-stream' } };
};

const isIdempotencyKey = (text: string): boolean =>
  text.length <= IDEMPOTENCY_KEY_CHARACTERS_MAX && /^[\x21-\x7e]+$/.test(text);
