import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { newId } from '@svc/contracts';

/** An app as the stand-in stores it. */
export interface StandInApp {
  readonly client_id: string;
  readonly client_secret: string;
  readonly client_type: string;
  readonly name: string;
  readonly active: boolean;
  readonly redirect_uris: string[];
  readonly secret_rotated_at: string | null;
  webhook?: { url: string; generation: number; signing_secret: string; blocked_by_event_id: string | null };
}

/** Stand-in for the part of the service with which a business manages its apps. */
export interface StandInService {
  readonly baseUrl: string;
  readonly accounts: Map<string, string>;
  readonly apps: StandInApp[];
  /** Successful calls, such as `POST /v1/console/accounts`, without ids. */
  readonly calls: string[];
  readonly recovered: string[];
  /** While true, every response is 503. */
  isDown: boolean;
  readonly close: () => void;
}

type Answer = [status: number, body?: object];
type Fields = Record<string, string & string[] & boolean>;

export const startStandInService = async (): Promise<StandInService> => {
  const server = createServer(async (request, response) => {
    const [status, body] = service.isDown
      ? [503, { detail: { code: 'service_unavailable', message: '' } }]
      : await answer(service, request);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const service: StandInService = {
    baseUrl: `http://127.0.0.1:${port}`,
    accounts: new Map(),
    apps: [],
    calls: [],
    recovered: [],
    isDown: false,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return service;
};

const answer = async (service: StandInService, request: IncomingMessage): Promise<Answer> => {
  const sent = await text(request);
  // Sent by our client and checked by the assertions.
  const body: Fields = sent === '' ? {} : JSON.parse(sent);
  const [, id = '', eventId = ''] = /apps\/(app_\w+)(?:\/webhook\/events\/(\w+))?/.exec(request.url ?? '') ?? [];
  const call = `${request.method} ${request.url?.replace(/app_\w+/, '*').replace(/evt_\w+/, '*')}`;
  const found = service.apps.find((app) => app.client_id === id);
  const answered =
    found === undefined ? withoutApp(service, call, body) : withApp(service, call, { app: found, body, eventId });
  if (answered[0] < 400) service.calls.push(call);
  return answered;
};

const withoutApp = ({ accounts, apps }: StandInService, call: string, body: Fields): Answer => {
  const { email = '', password = '' } = body;
  switch (call) {
    case 'POST /v1/console/accounts':
      if (accounts.has(email)) return [409, { detail: { code: 'email_taken', message: '' } }];
      accounts.set(email, password);
      return [201, {}];
    case 'POST /v1/console/sessions':
      return accounts.get(email) === password
        ? [201, { session_token: 'session' }]
        : [401, { detail: { code: 'invalid_credentials', message: '' } }];
    case 'DELETE /v1/console/session':
      return [204];
    case 'GET /v1/subscriptions/plans':
      return [200, { data: [{ id: 'plus', price: { amount_micros: 5_000_000, currency: 'EUR', interval: 'month' } }] }];
    case 'GET /v1/integrations/apps':
      return [200, { data: apps.map(({ client_secret: _, webhook: __, ...app }) => app) }];
    case 'POST /v1/integrations/apps': {
      const secret = { client_secret: `svc_cs_${apps.length}`, secret_rotated_at: null };
      const app = { ...body, ...secret, client_id: newId('app'), active: true };
      // The body is a registration; the assertions check its fields.
      apps.push(app as unknown as StandInApp);
      return [201, app];
    }
    default:
      return [404, { detail: { code: 'not_found', message: '' } }];
  }
};

const withApp = (
  service: StandInService,
  call: string,
  { app, body, eventId }: { app: StandInApp; body: Fields; eventId: string },
): Answer => {
  switch (call) {
    case 'PATCH /v1/integrations/apps/*':
      Object.assign(app, body);
      return [200, app];
    case 'POST /v1/integrations/apps/*/rotate-secret':
      Object.assign(app, { client_secret: `${app.client_secret}r`, secret_rotated_at: new Date().toISOString() });
      return [200, app];
    case 'GET /v1/integrations/apps/*/webhook':
      return app.webhook === undefined ? [404, {}] : [200, { ...app.webhook, signing_secret: undefined }];
    case 'PUT /v1/integrations/apps/*/webhook': {
      const generation = (app.webhook?.generation ?? 0) + 1;
      app.webhook = {
        url: body['url'] ?? '',
        generation,
        signing_secret: `whsec_${generation}`,
        blocked_by_event_id: null,
      };
      return [200, app.webhook];
    }
    case 'POST /v1/integrations/apps/*/webhook/events/*/recover':
      service.recovered.push(`${eventId} ${body['action']}`);
      return [200, {}];
    default:
      return [404, {}];
  }
};
