import { WEBHOOK_BODY_BYTES_MAX } from './verify-webhook.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

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
