import { concatBytes } from '../bytes.ts';
import { WEBHOOK_BODY_BYTES_MAX } from './verify-webhook.ts';
import type { Receipt, WebhookReceiver } from './webhook-receiver.ts';
import { WebhookRejectedError } from './webhook-rejected-error.ts';

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
