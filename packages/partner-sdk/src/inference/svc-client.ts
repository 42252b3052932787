import { capabilitiesShape, receiptShape, requestUsageShape, routePaths, usageShape } from '../generated/contract.ts';
import { readServerUrl } from '../server-url.ts';
import { type Infer, list, number, openObject, optional, type Shape, text } from '../shape.ts';
import type { AccessTokenSource } from '../user-tokens.ts';
import { type ChatCompletion, type ChatRequest, chatCompletionShape } from './chat.ts';
import { type ChatStream, createChatStream } from './chat-stream.ts';
import { type OutgoingRequest, requestJson, sendRequest, type Transport } from './send-request.ts';

/** A transcription request in the wire format. */
export interface TranscriptionRequest {
  /** One non-empty audio file of at most 25,000,000 bytes. `openAsBlob` of `node:fs` opens one without reading it. */
  readonly file: Blob;
  /** Its extension names the audio format. A `File` brings its own name. */
  readonly filename?: string | undefined;
  /** Two lower-case letters. */
  readonly language?: string | null | undefined;
  /** At most 4000 characters. */
  readonly prompt?: string | null | undefined;
  /** From 0 to 1. */
  readonly temperature?: number | null | undefined;
  readonly response_format?: 'json' | 'verbose_json' | undefined;
}

export const transcriptionShape = openObject({
  text: text(),
  language: optional(text()),
  duration: optional(number()),
  segments: optional(list(openObject({ start: number(), end: number(), text: text() }))),
});

/** A transcription. `verbose_json` adds language, duration in seconds, and segments. */
export type Transcription = Infer<typeof transcriptionShape>;

/** Builds the multipart form. Null and missing fields are left to the service. */
const toTranscriptionForm = ({ file, filename, ...fields }: TranscriptionRequest): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) form.append(name, String(value));
  }
  const ownName = 'name' in file && typeof file.name === 'string' ? file.name : 'audio';
  form.append('file', file, filename ?? ownName);
  return form;
};

/** Paths of the called endpoints, relative to the base URL. */
export const paths = {
  ...routePaths,
  requestUsage: (requestId: string): string =>
    routePaths.requestUsage.replace('{request_id}', encodeURIComponent(requestId)),
  requestReceipt: (requestId: string): string =>
    routePaths.requestReceipt.replace('{request_id}', encodeURIComponent(requestId)),
} as const;

/** Read-only requests. */
const READ_TIMEOUT_MS = 30_000;
/** Whole inference answers. Just below the header timeout of Node's `fetch`. */
const INFERENCE_TIMEOUT_MS = 290_000;
/** First byte of a stream, and every pause in it. The service gives a provider 120 s. */
const STREAM_IDLE_TIMEOUT_MS = 150_000;
const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;

export interface SvcClientOptions {
  /** Base URL of the service, without `/v1`. */
  readonly baseUrl: string;
  /** Token source of one user: `userTokens.of(svcUserId)`. */
  readonly tokens: AccessTokenSource;
  /** Allows http to hosts that are not loopback. Never set it in production. */
  readonly allowInsecure?: boolean | undefined;
  /** A replacement for `fetch`, for example one with a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  /** Aborts the call. A request already sent is still served and billed. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of the whole answer; for a stream, of its start and of each pause. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a call that may cost something. */
export interface BilledCallOptions extends CallOptions {
  /**
   * At most 255 characters. A second request with the same key is not served: it fails with `duplicate_request`, whose
   * `details` carry the `request_id` and `state` of the first.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of a chat. */
export interface ChatCallOptions extends BilledCallOptions {
  /** Asks for a proof of provenance in `extensions.provenance`, of a stream in its last chunk. `verifyProvenance` reads it. */
  readonly isProven?: boolean | undefined;
}

/** Request id that the service assigned. Pass it to `requestUsage`. */
export interface WithRequestId {
  readonly requestId: string | undefined;
}

/** Client for one user, billed to that user's subscription. Answers keep the wire format. */
export interface SvcClient {
  chat(request: ChatRequest, options?: ChatCallOptions): Promise<ChatCompletion & WithRequestId>;
  /** Sends the request at the first iteration step or at `opened()`. Ends only after `[DONE]`; otherwise it throws. */
  streamChat(request: ChatRequest, options?: ChatCallOptions): ChatStream;
  transcribe(request: TranscriptionRequest, options?: BilledCallOptions): Promise<Transcription & WithRequestId>;
  capabilities(options?: CallOptions): Promise<Capabilities>;
  /** Returns limits and use, shared by all apps. */
  usage(options?: CallOptions): Promise<Usage>;
  /** Returns state and cost of one request. */
  requestUsage(requestId: string, options?: CallOptions): Promise<RequestUsage>;
  /** The signed receipt of a request; `not_settled` (409) while its cost is open. `verifyReceipt` reads it. */
  requestReceipt(requestId: string, options?: CallOptions): Promise<string>;
}

/**
 * Creates a client for one user. Every method throws `SvcError` or a subclass, `ConnectionEndedError` if the user has
 * to connect again, or the reason of an aborted signal.
 */
export const createSvcClient = (options: SvcClientOptions): SvcClient => {
  const transport: Transport = {
    baseUrl: readServerUrl(options.baseUrl, 'baseUrl', options.allowInsecure),
    tokens: options.tokens,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  };
  return {
    chat: async (request, call = {}) =>
      requestBilled(transport, chatRequest({ ...request, stream: false }, call), chatCompletionShape),
    streamChat: (request, call = {}) =>
      createChatStream(async () => sendRequest(transport, streamRequest(request, call))),
    transcribe: async (request, call = {}) =>
      requestBilled(transport, billed(paths.transcriptions, toTranscriptionForm(request), call), transcriptionShape),
    capabilities: (call = {}) => read(transport, paths.capabilities, capabilitiesShape, call),
    usage: (call = {}) => read(transport, paths.usage, usageShape, call),
    requestUsage: (requestId, call = {}) => read(transport, paths.requestUsage(requestId), requestUsageShape, call),
    requestReceipt: async (requestId, call = {}) =>
      (await read(transport, paths.requestReceipt(requestId), receiptShape, call)).receipt,
  };
};

const read = async <T>(transport: Transport, path: string, shape: Shape<T>, call: CallOptions): Promise<T> => {
  const { signal, timeoutMs = READ_TIMEOUT_MS } = call;
  return (await requestJson(transport, { method: 'GET', path, isBilled: false, signal, timeoutMs }, shape)).answer;
};

const requestBilled = async <T extends object>(
  transport: Transport,
  request: OutgoingRequest,
  shape: Shape<T>,
): Promise<T & WithRequestId> => {
  const { answer, requestId } = await requestJson(transport, request, shape);
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

const chatRequest = (body: ChatRequest & { stream: boolean }, call: ChatCallOptions): OutgoingRequest => {
  const request = billed(paths.chat, JSON.stringify(body), call);
  const proof = call.isProven === true ? '1' : undefined;
  const headers = { ...request.headers, 'content-type': 'application/json', 'x-svc-provenance': proof };
  return { ...request, headers };
};

const streamRequest = (body: ChatRequest, call: ChatCallOptions): OutgoingRequest => {
  const timeoutMs = call.timeoutMs ?? STREAM_IDLE_TIMEOUT_MS;
  const request = chatRequest({ ...body, stream: true }, { ...call, timeoutMs });
  return { ...request, headers: { ...request.headers, accept: 'text/event-stream' } };
};

const isIdempotencyKey = (text: string): boolean =>
  text.length <= IDEMPOTENCY_KEY_CHARACTERS_MAX && /^[\x21-\x7e]+$/.test(text);

/** Services that both the server and the user's plan offer. */
export type Capabilities = Infer<typeof capabilitiesShape>;

/**
 * Limits and use of the user's subscription, shared by all apps. Money is in millionths of the currency. Fields of the
 * subscription are null if there is none.
 */
export type Usage = Infer<typeof usageShape>;

/**
 * Returns what the user's limit for this app leaves, in millionths of the currency: neither used nor held for running
 * requests. Returns undefined without a limit. Shared limits of the plan may stop the app earlier.
 */
export const remainingBudgetMicros = ({ app }: Usage): number | undefined =>
  app.limit_micros === null ? undefined : Math.max(0, app.limit_micros - app.used_micros - app.held_micros);

/**
 * State of one request: `reserved` is still running, `settled` cost `cost_micros`, `released` cost nothing, and the
 * cost of `uncertain` is not known yet.
 */
export type RequestUsage = Infer<typeof requestUsageShape>;
