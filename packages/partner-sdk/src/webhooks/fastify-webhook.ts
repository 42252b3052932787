import { WEBHOOK_SIGNATURE_HEADER } from './signature-header.ts';
import { WEBHOOK_BODY_BYTES_MAX } from './verify-webhook.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

type ParsedBody = (error: Error | null, body?: unknown) => void;

/** What is used of a request of Fastify. */
export interface FastifyRequestLike {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
}

/** What is used of a reply of Fastify. */
export interface FastifyReplyLike {
  code(status: number): FastifyReplyLike;
  send(payload?: string): FastifyReplyLike;
}

/** What is used of Fastify. */
export interface FastifyLike {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: never, body: Buffer, done: ParsedBody) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>): unknown;
}

/**
 * A plug-in for Fastify: `app.register(fastifyWebhook(receiver), { path: '/webhooks' })`. The raw body is read as bytes
 * within the plug-in only; the rest of the application parses as before. Failures of the handler or the store are thrown, so
 * that Fastify logs them and answers 500.
 */
export const fastifyWebhook =
  (receiver: WebhookReceiver) =>
  async (app: FastifyLike, options: { readonly path: string }): Promise<void> => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: WEBHOOK_BODY_BYTES_MAX }, (_request, body, done) =>
      done(null, body),
    );
    app.post(options.path, async (request, reply) => {
      const rawBody = request.body instanceof Uint8Array ? request.body : new Uint8Array();
      const receipt = await receiver.receive({ rawBody, signature: request.headers[WEBHOOK_SIGNATURE_HEADER] });
      if (receipt.outcome === 'failed') throw receipt.error;
      return reply.code(receipt.status).send(receipt.outcome === 'rejected' ? receipt.error.reason : undefined);
    });
  };
