import { concatBytes, readBytes } from '../bytes.ts';
import { WEBHOOK_BODY_BYTES_MAX } from './verify-webhook.ts';
import { WebhookRejectedError } from './webhook-errors.ts';
import type { Receipt, WebhookReceiver } from './webhook-receiver.ts';

/** The part of an Express or `node:http` request that the handler uses. */
export interface NodeRequestLike extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly readableEnded: boolean;
  readonly body?: unknown;
}

/** The part of an Express or `node:http` response that the handler uses. */
export interface NodeResponseLike {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text?: string): unknown;
}

/**
 * Handler for Express 4 or 5, or for `node:http`: `app.post('/webhooks', expressWebhook(receiver))`. It reads the raw
 * body itself, or uses that of `express.raw()`. Mount it before `express.json()`. Failures of the handler or the store
 * go to `next`, so that Express logs them and answers 500.
 */
export const expressWebhook =
  (receiver: Pick<WebhookReceiver, 'receive'>) =>
  async (request: NodeRequestLike, response: NodeResponseLike, next?: (error: unknown) => void): Promise<void> => {
    const receipt = await receive(receiver, request);
    if (receipt.outcome === 'failed' && next !== undefined) {
      next(receipt.error);
      return;
    }
    response.statusCode = receipt.status;
    // The unread rest of an oversized body must not be parsed as the next request.
    if (receipt.status === 413) response.setHeader('connection', 'close');
    response.end(receipt.outcome === 'rejected' ? receipt.error.reason : undefined);
  };

const receive = async (receiver: Pick<WebhookReceiver, 'receive'>, request: NodeRequestLike): Promise<Receipt> => {
  try {
    return await receiver.receive({ rawBody: await readRawBody(request), headers: request.headers });
  } catch (error) {
    if (error instanceof WebhookRejectedError) return { outcome: 'rejected', status: error.status, error };
    return { outcome: 'failed', status: 500, error };
  }
};

const readRawBody = async (request: NodeRequestLike): Promise<Uint8Array> => {
  if (request.body instanceof Uint8Array) return request.body;
  if (request.readableEnded) {
    throw new TypeError('A parser has already read the body. Mount the webhook before express.json().');
  }
  // A body with a declared length is refused with an answer; one without is cut off.
  if (Number(request.headers['content-length']) > WEBHOOK_BODY_BYTES_MAX) {
    throw new WebhookRejectedError('body_too_large');
  }
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request) {
    length += piece.byteLength;
    if (length > WEBHOOK_BODY_BYTES_MAX) throw new WebhookRejectedError('body_too_large');
    pieces.push(piece);
  }
  return concatBytes(...pieces);
};

type ParsedBody = (error: Error | null, body?: unknown) => void;

/** The part of a Fastify request that the plug-in uses. */
export interface FastifyRequestLike {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** The part of a Fastify reply that the plug-in uses. */
export interface FastifyReplyLike {
  code(status: number): FastifyReplyLike;
  send(payload?: string): FastifyReplyLike;
}

/** The part of a Fastify instance that the plug-in uses. */
export interface FastifyLike {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: never, body: Uint8Array, done: ParsedBody) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>): unknown;
}

/**
 * Fastify plug-in: `app.register(fastifyWebhook(receiver), { path: '/webhooks' })`. Only this plug-in reads bodies as
 * raw bytes; other routes parse as before. Failures of the handler or the store are thrown, so that Fastify logs them
 * and answers 500.
 */
export const fastifyWebhook =
  (receiver: Pick<WebhookReceiver, 'receive'>) =>
  async (app: FastifyLike, options: { readonly path: string }): Promise<void> => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: WEBHOOK_BODY_BYTES_MAX }, (_request, body, done) =>
      done(null, body),
    );
    app.post(options.path, async (request, reply) => {
      const rawBody = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      const receipt = await receiver.receive({ rawBody, headers: request.headers });
      if (receipt.outcome === 'failed') throw receipt.error;
      return reply.code(receipt.status).send(receipt.outcome === 'rejected' ? receipt.error.reason : undefined);
    });
  };

/** The part of a Hono context that the handler uses. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request };
}

/**
 * Handler for frameworks that exchange `Request` and `Response`, such as Next.js (`export const POST =
 * fetchWebhook(receiver)`), SvelteKit, Deno, Bun and Cloudflare Workers. It reads the raw body itself. Failures of the
 * handler or the store are thrown, so that the framework logs them and answers 500.
 */
export const fetchWebhook =
  (receiver: Pick<WebhookReceiver, 'receive'>) =>
  async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
    const rawBody = await readRequestBody(request);
    if (rawBody === undefined) return new Response('body_too_large', { status: 413 });
    const receipt = await receiver.receive({ rawBody, headers: request.headers });
    if (receipt.outcome === 'failed') throw receipt.error;
    const text = receipt.outcome === 'rejected' ? receipt.error.reason : null;
    return new Response(text, { status: receipt.status });
  };

/** Handler for Hono: `app.post('/webhooks', honoWebhook(receiver))`. */
export const honoWebhook = (receiver: Pick<WebhookReceiver, 'receive'>) => {
  const handle = fetchWebhook(receiver);
  return async (context: HonoContextLike): Promise<Response> => await handle(context.req.raw);
};

const readRequestBody = async (request: Request): Promise<Uint8Array | undefined> => {
  try {
    return await readBytes(request.body, WEBHOOK_BODY_BYTES_MAX);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};
