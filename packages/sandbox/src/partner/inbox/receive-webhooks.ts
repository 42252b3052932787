import {
  expressWebhook,
  readWebhookEnvelope,
  STANDARD_WEBHOOK_HEADERS,
  WEBHOOK_SIGNATURE_HEADER,
  type WebhookReceiver,
} from '@svc/partner-sdk/server';
import express, { type ErrorRequestHandler, type Request } from 'express';
import type { Inbox } from './inbox.ts';

/** The service's delivery timeout. */
const TIMEOUT_MS = 10_000;

const PORT_MIN = 1024;

const PORT_MAX = 65_535;

/** A delivery as received. */
interface RawDelivery {
  readonly body: Buffer;
  /** Content type and signature headers. */
  readonly headers: Readonly<Record<string, string>>;
}

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
  const signature = headers[WEBHOOK_SIGNATURE_HEADER] ?? null;
  inbox.add({ isVerified: false, envelope: readEnvelope(text), raw: { signature, headers, body: text } });
};

const readEnvelope = (text: string) => {
  try {
    return readWebhookEnvelope(JSON.parse(text)) ?? null;
  } catch {
    return null;
  }
};

/** Returns the port in a path; undefined if it is not an unprivileged port. */
const readForwardPort = (text: string): number | undefined => {
  const port = /^\d{4,5}$/.test(text) ? Number(text) : 0;
  return port >= PORT_MIN && port <= PORT_MAX ? port : undefined;
};

/**
 * Forwards a delivery unchanged to `/webhooks` of a local program and returns its response: 502 if the port is closed,
 * 504 on timeout.
 */
const forwardWebhook = async (port: number, { body, headers }: RawDelivery): Promise<number> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/webhooks`, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 504 : 502;
  }
};
