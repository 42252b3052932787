import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { Counter } from './counts.ts';
import type { Directives } from './directives.ts';

/** A request being answered, and the tools of its handler. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly counter: Counter;
  /** Time in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly newId: () => string;
  /** Aborts when the provider stops. */
  readonly stopping: AbortSignal;
}

/** An error that is sent as a body of the common wire format. */
export class ProviderError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;

  constructor(status: number, code: string | null, message: string) {
    super(message);
    this.name = 'ProviderError';
    this.status = status;
    this.code = code;
    this.type = status === 401 ? 'authentication_error' : status >= 500 ? 'server_error' : 'invalid_request_error';
  }
}

/** Applies delays and faults of the directives. Returns false if the response is complete. */
export const playDirectives = async (exchange: Exchange, directives: Directives): Promise<boolean> => {
  const { req, res } = exchange;
  if (directives.no_request_id) res.removeHeader('x-request-id');
  if (directives.delay_ms !== undefined) {
    await sleep(directives.delay_ms, undefined, { signal: exchange.stopping });
  }
  if (directives.reset) {
    exchange.counter.answered('reset');
    req.socket.destroy();
    return false;
  }
  if (directives.status !== undefined) {
    if (directives.retry_after !== undefined) res.setHeader('retry-after', directives.retry_after);
    throw new ProviderError(directives.status, 'sandbox_directive', 'The prompt requested this error.');
  }
  return true;
};

/** Sends a JSON body, modified by `[[garbage]]` and `[[drop_after]]`. */
export const sendJson = (exchange: Exchange, body: object, directives: Directives = {}): void => {
  const { res, counter } = exchange;
  counter.answered('200');
  const text = directives.garbage ? '<html>not what you asked for</html>' : JSON.stringify(body);
  const bytes = Buffer.from(text);
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  if (directives.drop_after === undefined) {
    res.end(bytes);
    return;
  }
  res.write(bytes.subarray(0, Math.floor(bytes.length / 2)));
  res.socket?.destroySoon();
};

/** Sends an error in the common wire format. */
export const sendError = (exchange: Exchange, error: ProviderError): void => {
  const { res, counter } = exchange;
  counter.answered(String(error.status));
  if (error.status === 401) res.setHeader('www-authenticate', 'Bearer');
  res.writeHead(error.status, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ error: { message: error.message, type: error.type, param: null, code: error.code } }));
};

/** Larger than any body that the product lets through. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Reads a whole body; 413 above the limit. */
export const readBody = async (req: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('The request must not be decoded.');
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new ProviderError(413, 'payload_too_large', 'The body is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Reads and checks a JSON body; 400 names the first invalid field. */
export const readJson = async <S extends z.ZodType>(req: IncomingMessage, schema: S): Promise<z.infer<S>> => {
  let json: unknown;
  try {
    json = JSON.parse((await readBody(req)).toString('utf8'));
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    throw new ProviderError(400, 'json_invalid', 'The body is not valid JSON.');
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ProviderError(400, 'invalid_value', `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
};

/** The sandbox's `system_fingerprint`. */
export const FINGERPRINT = 'fp_sandbox_1';

/** Release in the `model` of responses: providers return a dated variant of the requested name. */
const MODEL_RELEASE = '2026-06-01';

/** Models listed by `GET /v1/models`; any other name works too. */
export const MODELS = ['sandbox-chat-1', 'sandbox-completion-1', 'sandbox-embedding-1', 'sandbox-audio-1'] as const;

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { cached_tokens: number };
  readonly completion_tokens_details: { reasoning_tokens: number };
}

/** Returns the reported and billed usage: the counted tokens, unless directives override them. */
export const usageOf = (input: number, output: number, directives: Directives): Usage => {
  const prompt_tokens = directives.prompt_tokens ?? input;
  const completion_tokens = directives.completion_tokens ?? output;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
};

/** Returns the model of a response: a dated variant of the requested one, or the value of `[[model=…]]`. */
export const answeredModel = (requested: string, directives: Directives): string =>
  directives.model ?? `${requested}-${MODEL_RELEASE}`;
