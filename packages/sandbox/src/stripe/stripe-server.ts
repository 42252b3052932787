import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sandboxRoutes } from '@svc/contracts';
import { createLogger, createMetrics, createServiceApp } from '@svc/service-kit';
import type { ApiResponse } from './answer-api-request.ts';
import type { SendEvent } from './events.ts';
import { pageBindings } from './page-routes.ts';
import { parseForm } from './parse-form.ts';
import type { StripeStandIn } from './stripe-stand-in.ts';

const DELIVERY_TIMEOUT_MS = 20_000;
const BODY_BYTES_MAX = 1024 * 1024;

export interface StripeServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Serves the API below `/v1/`, and the hosted pages and controls below `/sandbox/payments/`. */
export const startStripeServer = async (
  standIn: StripeStandIn,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<StripeServer> => {
  const pages = createServiceApp({
    service: 'billing',
    bindings: pageBindings(standIn.account),
    contract: Object.values(sandboxRoutes),
    authenticate: {},
    logger: createLogger({ service: 'sandbox-payments', level: 'silent' }),
    metrics: createMetrics('sandbox-payments'),
  });
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '', 'http://stripe.test');
    if (pathname.startsWith('/v1/')) void serveApi(standIn, req, res);
    else if (pathname === '/healthz') respond(res, { status: 200, body: { status: 'ok' } });
    else pages(req, res);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  // It listens on a port.
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${taken}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Delivers events to an endpoint over HTTP. */
export const sendOverHttp =
  (endpoint: () => string): SendEvent =>
  async (body, signature) => {
    try {
      const response = await fetch(endpoint(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
        body,
        signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  };

const serveApi = async (standIn: StripeStandIn, req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const { pathname: path, search } = new URL(req.url ?? '', 'http://stripe.test');
  const body = await readText(req);
  if (body === undefined) {
    respond(res, { status: 413, body: { error: { type: 'invalid_request_error', message: 'The body is too large' } } });
    return;
  }
  const key = req.headers['idempotency-key'];
  const answer = await standIn.answer({
    method: req.method ?? '',
    path,
    params: parseForm(new URLSearchParams(body || search)),
    isAuthorized: req.headers.authorization?.startsWith('Bearer sk_') === true,
    idempotencyKey: typeof key === 'string' ? key : undefined,
    version: req.headers['stripe-version']?.toString(),
  });
  if (answer === undefined) req.socket.destroy();
  else respond(res, answer);
};

const readText = async (req: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

const respond = (res: ServerResponse, { status, body }: ApiResponse): void => {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_of_stripe' });
  res.end(JSON.stringify(body));
};
