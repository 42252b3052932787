import {
  expressWebhook,
  readWebhookEnvelope,
  STANDARD_WEBHOOK_HEADERS,
  WEBHOOK_SIGNATURE_HEADER,
  type WebhookReceiver,
} from '@svc/partner-sdk/server';
import express, { type ErrorRequestHandler, type Request } from 'express';
import { forwardWebhook, type RawDelivery, readForwardPort } from './forward-webhook.ts';
import type { Inbox } from './inbox.ts';

const FORWARDED_HEADERS = ['content-type', WEBHOOK_SIGNATURE_HEADER, ...Object.values(STANDARD_WEBHOOK_HEADERS)];
/** Limit of the SDK's receiver. */
const BODY_BYTES_MAX = '1mb';

export interface ReceiveDeps {
  readonly inbox: Inbox;
  /** The receiver of this app's events; undefined until the app is registered. */
  readonly receiver: () => WebhookReceiver | undefined;
  /** Called for a delivery that could not be accepted. */
  readonly onError: (error: unknown) => void;
}

/**
 * Creates the application behind https: `/webhooks` is this app's endpoint, `/webhooks/any` accepts deliveries for any
 * app, and `/webhooks/to/<port>` forwards to a local receiver under development that has no https.
 */
export const receiveWebhooks = ({ inbox, receiver, onError }: ReceiveDeps): express.Express => {
  const app = express();
  app.disable('x-powered-by');
  app.post('/webhooks', (request, response, next) => {
    const current = receiver();
    // The service delivers it again later.
    if (current === undefined) response.status(503).set('retry-after', '1').end();
    else expressWebhook(current)(request, response, next);
  });
  const raw = express.raw({ type: () => true, limit: BODY_BYTES_MAX });
  app.post('/webhooks/any', raw, (request, response) => {
    addUnverified(inbox, readDelivery(request));
    response.status(204).end();
  });
  app.post('/webhooks/to/:port', raw, async (request, response) => {
    const port = readForwardPort(String(request.params['port']));
    if (port === undefined) {
      response.status(404).end();
      return;
    }
    const delivery = readDelivery(request);
    addUnverified(inbox, delivery);
    response.status(await forwardWebhook(port, delivery)).end();
  });
  const answerError: ErrorRequestHandler = (error, _request, response, _next) => {
    onError(error);
    response.status(500).end();
  };
  return app.use(answerError);
};

const readDelivery = (request: Request): RawDelivery => {
  const body: unknown = request.body;
  return {
    body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
    headers: Object.fromEntries(
      FORWARDED_HEADERS.flatMap((name) => {
        const value = request.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
};

const addUnverified = (inbox: Inbox, { body, headers }: RawDelivery): void => {
  const text = body.toString('utf8');
  const signature = headers[WEBHOOK_SIGNATURE_HEADER];
  inbox.add({ isVerified: false, envelope: readEnvelope(text), raw: { signature: signature ?? null, body: text } });
};

const readEnvelope = (text: string) => {
  try {
    return readWebhookEnvelope(JSON.parse(text)) ?? null;
  } catch {
    return null;
  }
};
