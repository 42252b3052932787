import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { answerChat } from './chat.ts';
import { answerCompletion } from './completions.ts';
import { type Counter, createCounter, type ProviderCounts } from './counts.ts';
import { DirectiveError, readDirectives } from './directives.ts';
import {
  answeredModel,
  type Exchange,
  MODELS,
  ProviderError,
  playDirectives,
  readJson,
  sendError,
  sendJson,
  usageOf,
} from './exchange.ts';
import { countTokens, seededBytes } from './generate-answer.ts';
import { answerTranscription } from './transcriptions.ts';

const DIMENSIONS = 256;
const DIMENSIONS_MAX = 4096;

const tokens = z.array(z.number().int().nonnegative()).min(1);

const embeddingRequest = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string().min(1), tokens, z.array(z.union([z.string().min(1), tokens])).min(1)]),
  dimensions: z.number().int().min(1).max(DIMENSIONS_MAX).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
});

type Input = string | readonly number[];

/**
 * Handles POST /v1/embeddings: unit vectors determined by model and input, as floats or base64 of little-endian
 * float32.
 */
const answerEmbeddings = async (exchange: Exchange): Promise<void> => {
  const request = await readJson(exchange.req, embeddingRequest);
  const inputs = toInputs(request.input);
  const first = inputs[0];
  const { directives } = readDirectives(typeof first === 'string' ? first : '');
  if (!(await playDirectives(exchange, directives))) return;
  const inputTokens = inputs.reduce((sum, input) => sum + countInput(input), 0);
  const { prompt_tokens } = usageOf(inputTokens, 0, { ...directives, completion_tokens: 0 });
  const model = answeredModel(request.model, directives);
  exchange.counter.billed({ model, inputTokens: prompt_tokens });
  const data = inputs.map((input, index) => {
    const vector = toVector(`${request.model}:${JSON.stringify(input)}`, request.dimensions ?? DIMENSIONS);
    const embedding =
      request.encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const usage = directives.no_usage ? {} : { usage: { prompt_tokens, total_tokens: prompt_tokens } };
  sendJson(exchange, { object: 'list', data, model, ...usage }, directives);
};

const toInputs = (input: z.infer<typeof embeddingRequest>['input']): readonly Input[] => {
  if (typeof input === 'string') return [input];
  const isOneTokenList = input.every((element) => typeof element === 'number');
  return isOneTokenList ? [input] : input.filter((element) => typeof element !== 'number');
};

/** Counts token numbers as they are, text by the sandbox's rule. */
const countInput = (input: Input): number => (typeof input === 'string' ? countTokens(input) : input.length);

const toVector = (seed: string, dimensions: number): Float32Array => {
  const bytes = seededBytes(seed, dimensions * 2);
  const raw = Float64Array.from({ length: dimensions }, (_, index) => bytes.readInt16LE(index * 2) + 0.5);
  const length = Math.hypot(...raw);
  return Float32Array.from(raw, (value) => value / length);
};

export interface SandboxProviderOptions {
  /** 0 selects a free port. */
  readonly port: number;
  /** Address to listen on; default loopback. */
  readonly host?: string;
  /** If set, requests must send it as a bearer token. */
  readonly apiKey?: string | undefined;
  /** Time in milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly newId?: () => string;
}

/** A running sandbox provider. */
export interface SandboxProvider {
  /** Root address without a path, such as `http://127.0.0.1:9100`; the wire format is below `/v1`. */
  readonly url: string;
  readonly port: number;
  readonly counts: () => ProviderCounts;
  readonly resetCounts: () => void;
  /** Closes every connection and resolves when the port is free. */
  readonly stop: () => Promise<void>;
}

const handlers: Record<string, (exchange: Exchange) => Promise<void>> = {
  '/v1/chat/completions': answerChat,
  '/v1/completions': answerCompletion,
  '/v1/embeddings': answerEmbeddings,
  '/v1/audio/transcriptions': answerTranscription,
};

/** Starts an inference provider in the common wire format. Answers and usage depend only on the request. */
export const createSandboxProvider = async (options: SandboxProviderOptions): Promise<SandboxProvider> => {
  const { apiKey, host = '127.0.0.1', clock = Date.now, newId = randomUUID } = options;
  const counter = createCounter();
  const stopping = new AbortController();
  const server = createServer((req, res) => {
    const exchange: Exchange = { req, res, counter, clock, newId, stopping: stopping.signal };
    answer(exchange, apiKey).catch((error: unknown) => fail(exchange, error));
  });
  server.listen(options.port, host);
  await once(server, 'listening');
  // A listening TCP server always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    counts: counter.snapshot,
    resetCounts: counter.reset,
    stop: async () => {
      stopping.abort();
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
};

const answer = async (exchange: Exchange, apiKey: string | undefined): Promise<void> => {
  const { req, res, counter, newId } = exchange;
  res.setHeader('x-request-id', `req-sandbox-${newId()}`);
  const path = (req.url ?? '/').replace(/\?.*$/s, '');
  if (path.startsWith('/sandbox/') || path === '/healthz') return answerControl(req, res, { path, counter });
  if (apiKey !== undefined && !hasKey(req, apiKey)) {
    if (handlers[path] !== undefined) counter.received();
    throw new ProviderError(401, 'invalid_api_key', 'The API key is missing or wrong.');
  }
  if (path === '/v1/models' && req.method === 'GET') return listModels(res);
  const handler = handlers[path];
  if (handler === undefined) throw new ProviderError(404, 'unknown_url', 'There is nothing at this address.');
  if (req.method !== 'POST') throw new ProviderError(405, 'method_not_allowed', 'Use POST here.');
  counter.received();
  await handler(exchange);
};

const answerControl = (
  req: IncomingMessage,
  res: ServerResponse,
  { path, counter }: { path: string; counter: Counter },
): void => {
  if (path === '/healthz') sendPlain(res, 200, { status: 'ok' });
  else if (path === '/sandbox/counts' && req.method === 'GET') sendPlain(res, 200, counter.snapshot());
  else if (path === '/sandbox/counts' && req.method === 'DELETE') {
    counter.reset();
    res.writeHead(204).end();
  } else sendPlain(res, 404, { error: { message: 'There is nothing at this address.' } });
};

const listModels = (res: ServerResponse): void => {
  const data = MODELS.map((id) => ({ id, object: 'model', created: 1_780_272_000, owned_by: 'sandbox' }));
  sendPlain(res, 200, { object: 'list', data });
};

const sendPlain = (res: ServerResponse, status: number, body: object): void => {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
};

const hasKey = (req: IncomingMessage, apiKey: string): boolean => {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(req.headers.authorization ?? ''), digest(`Bearer ${apiKey}`));
};

const fail = (exchange: Exchange, error: unknown): void => {
  const { res, stopping } = exchange;
  if (res.headersSent || res.destroyed || stopping.aborted) {
    res.destroy();
    return;
  }
  sendError(exchange, toProviderError(error));
};

const toProviderError = (error: unknown): ProviderError => {
  if (error instanceof ProviderError) return error;
  // Stack overflow: parsing the body is recursive.
  if (error instanceof RangeError) return new ProviderError(400, 'nested_too_deeply', 'The body is nested too deeply.');
  if (error instanceof DirectiveError) return new ProviderError(400, 'bad_directive', error.message);
  return new ProviderError(500, null, 'The sandbox failed.');
};
