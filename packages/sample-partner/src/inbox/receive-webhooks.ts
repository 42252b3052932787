import {
  expressWebhook,
  WEBHOOK_SIGNATURE_HEADER,
  type WebhookReceiver,
  webhookEnvelopeSchema,
} from '@svc/partner-sdk';
import express, { type ErrorRequestHandler } from 'express';
import type { Inbox } from './inbox.ts';

/** As much as the SDK's receiver takes. */
const BODY_BYTES_MAX = '1mb';

/** What receiving needs. */
export interface ReceiveDeps {
  readonly inbox: Inbox;
  /** The receiver of this app's events; undefined until the app is registered. */
  readonly receiver: () => WebhookReceiver | undefined;
  /** Told of a delivery that could not be taken. */
  readonly onError: (error: unknown) => void;
}

/** The application behind https: `/webhooks` is this app's own endpoint, `/webhooks/any` one for every other app to try. */
export const receiveWebhooks = ({ inbox, receiver, onError }: ReceiveDeps): express.Express => {
  const app = express();
  app.disable('x-powered-by');
  app.post('/webhooks', (request, response, next) => {
    const current = receiver();
    // The service delivers it again later.
    if (current === undefined) response.status(503).set('retry-after', '1').end();
    else expressWebhook(current)(request, response, next);
  });
  app.post('/webhooks/any', express.raw({ type: () => true, limit: BODY_BYTES_MAX }), (request, response) => {
    const body: unknown = request.body;
    const text = Buffer.isBuffer(body) ? body.toString('utf8') : '';
    const signature = request.get(WEBHOOK_SIGNATURE_HEADER) ?? null;
    inbox.add({ isVerified: false, envelope: readEnvelope(text), raw: { signature, body: text } });
    response.status(204).end();
  });
  const answerError: ErrorRequestHandler = (error, _request, response, _next) => {
    onError(error);
    response.status(500).end();
  };
  return app.use(answerError);
};

const readEnvelope = (text: string) => {
  try {
    return webhookEnvelopeSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
};
