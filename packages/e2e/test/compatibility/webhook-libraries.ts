import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { createMemoryWebhookStore, createWebhookReceiver, fetchWebhook } from '@svc/partner-sdk/server';
import { waitFor } from '@svc/testing';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, beforeAll, describe, expect, inject } from 'vitest';
import { call } from './support/product.ts';
import { versioned, webhookTable } from './support/results.ts';

type Handler = (request: Request) => Promise<Response>;

interface Integration {
  readonly clientId: string;
  readonly secret: string;
}

interface Library {
  readonly name: string;
  readonly settings: string;
  readonly create: (integration: Integration) => Handler;
}

const { supports, needs } = webhookTable;

const libraries: readonly Library[] = [
  {
    name: versioned('standardwebhooks'),
    settings: 'none',
    create: ({ secret }) => verifiedBy(new Webhook(secret)),
  },
  {
    name: versioned('svix'),
    settings: 'none',
    create: ({ secret }) => verifiedBy(new SvixWebhook(secret)),
  },
  {
    name: 'Next.js route with @svc/partner-sdk/server',
    settings: '`export const POST = fetchWebhook(receiver)`',
    create: (integration) => {
      const route = { POST: fetchWebhook(receiverOf(integration)) };
      return (request) => route.POST(request);
    },
  },
  {
    name: 'Cloudflare worker with @svc/partner-sdk/server',
    settings: '`export default { fetch: (request, env) => … }`, with the secret in `env`',
    create: ({ clientId, secret }) => {
      const worker = {
        fetch: (request: Request, env: { WEBHOOK_SECRET: string }) =>
          fetchWebhook(receiverOf({ clientId, secret: env.WEBHOOK_SECRET }))(request),
      };
      return (request) => worker.fetch(request, { WEBHOOK_SECRET: secret });
    },
  },
];

const verifiedBy =
  (webhook: { verify: (body: string, headers: Record<string, string>) => unknown }): Handler =>
  async (request) => {
    try {
      webhook.verify(await request.text(), Object.fromEntries(request.headers));
      return new Response(null, { status: 204 });
    } catch {
      return new Response(null, { status: 400 });
    }
  };

const receiverOf = ({ clientId, secret }: Integration) =>
  createWebhookReceiver({ secret, clientId, store: createMemoryWebhookStore(), handle: async () => {} });

/** Tests each library as the receiver of an app's webhook. */
export const webhookLibraries = (): void => {
  let integration: Integration;
  let handler: Handler;
  let server: Server;
  let last: { readonly body: string; readonly headers: Record<string, string> };

  beforeAll(async () => {
    integration = await configureWebhook();
    server = createServer(inject('certificate'), async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
      last = { body: Buffer.concat(chunks).toString(), headers: Object.fromEntries(headers) };
      response.writeHead((await handler(toRequest(last))).status).end();
    });
    await once(server.listen(inject('receiverPort'), 'localhost'), 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  describe.each(libraries)('$name', ({ name, settings, create }) => {
    needs(name, settings);

    supports(name, 'Delivery', async () => {
      handler = create(integration);
      const { event_id } = await ask(integration, 'POST', '/test');
      const event = await waitFor(async () => {
        const current = await ask(integration, 'GET', `/events/${event_id}`);
        return Number(current['attempts']) > 0 && String(current['status']) !== 'delivering' ? current : undefined;
      });
      expect(event).toMatchObject({ status: 'delivered', last_attempt: { status_code: 204 } });
    });
    supports(name, 'Forgery', async () => {
      const { status } = await create(integration)(toRequest({ ...last, body: `${last.body} ` }));
      expect([400, 401]).toContain(status);
    });
  });
};

const toRequest = ({ body, headers }: { body: string; headers: Record<string, string> }): Request =>
  new Request('https://partner.example/webhooks', { method: 'POST', body, headers });

const configureWebhook = async (): Promise<Integration> => {
  const { token } = inject('business');
  const registration = { name: 'Webhooks', redirect_uris: ['https://partner.example/callback'] };
  const app = await call('POST', `${inject('baseUrl')}/integrations/apps`, { token, body: registration });
  const clientId = String(app['client_id']);
  const url = `https://localhost:${inject('receiverPort')}/webhooks`;
  const webhook = await call('PUT', webhookAddress(clientId), { token, body: { url } });
  return { clientId, secret: String(webhook['signing_secret']) };
};

const ask = ({ clientId }: Integration, method: 'GET' | 'POST', path: string) =>
  call(method, `${webhookAddress(clientId)}${path}`, { token: inject('business').token });

const webhookAddress = (clientId: string): string => `${inject('baseUrl')}/integrations/apps/${clientId}/webhook`;
