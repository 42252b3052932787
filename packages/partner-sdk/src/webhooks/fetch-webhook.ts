import { readBytes } from '../bytes.ts';
import { WEBHOOK_BODY_BYTES_MAX } from './verify-webhook.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

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
    const rawBody = await readRawBody(request);
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

const readRawBody = async (request: Request): Promise<Uint8Array | undefined> => {
  try {
    return await readBytes(request.body, WEBHOOK_BODY_BYTES_MAX);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};
