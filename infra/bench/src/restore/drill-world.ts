import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { newId, plansFileSchema } from '@svc/contracts';
import { StripeStandIn, startStripeServer } from '@svc/sandbox/stripe';
import { createTestAuthority, type TestTokens, testTokens } from '@svc/testing';
import { freePort } from '@svc/testing/servers';
import pg from 'pg';
import { parse } from 'yaml';
import { z } from 'zod';
import { CHAT_MODEL, startGateway, startProvider } from '../gateway-under-test.ts';
import { type Client, openClient } from '../harness/http.ts';
import { startOwnerStandIn } from '../harness/owner-stand-in.ts';
import { type RunningService, type Stack, type StackChoices, startStack } from '../harness/stack.ts';
import { type FactTeller, startFactTeller } from '../webhooks/dispatcher-under-test.ts';

const eventSchema = z.object({
  event_id: z.string(),
  event: z.string(),
  user: z.object({ svc_user_id: z.string() }),
  data: z.looseObject({ status: z.string().optional(), revision: z.number().optional() }),
});

type PartnerEvent = z.infer<typeof eventSchema>;

/** A partner that accepts every event and keeps a log, which outlives all restores. */
interface Partner {
  readonly port: number;
  readonly log: readonly PartnerEvent[];
  readonly stop: () => void;
}

const startPartner = async (identity: { key: string; cert: string }): Promise<Partner> => {
  const log: PartnerEvent[] = [];
  const server = createServer(identity, (req, res) => {
    void text(req).then((body) => {
      log.push(eventSchema.parse(JSON.parse(body)));
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  // A server that listens on a port has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { port, log, stop };
};

const BUYERS = Number(process.env['BENCH_BUYERS'] ?? 12);
const KEYS = Number(process.env['BENCH_ACCOUNTS'] ?? 4);
const PLANS = new URL('../../../kubernetes/overlays/production/plans.yaml', import.meta.url).pathname;
const TOP_UP_MICROS = 100_000_000;
/** Pages to which the payment provider sends people back. */
export const RETURNS = { success_url: 'https://shop.example/done', cancel_url: 'https://shop.example/back' };
const SERVICES = ['billing', 'gateway', 'dispatcher'] as const;

/** A person who buys a subscription, and is connected to the partner's app. */
export interface Buyer {
  readonly userId: string;
  readonly token: string;
}

/** The product with a payment provider, an inference provider and a partner, which no restore touches. */
export interface DrillWorld {
  readonly stack: Stack;
  readonly stripe: StripeStandIn;
  readonly provider: Client;
  readonly partner: Partner;
  readonly clientId: string;
  readonly buyers: readonly Buyer[];
  readonly keys: readonly string[];
  readonly model: string;
  teller: FactTeller;
  billing: RunningService;
  gateway: RunningService;
  dispatcher: RunningService;
  /** Kills all services at once. */
  readonly killServices: () => void;
  /** Starts all services again, at their addresses. */
  readonly startServices: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export const startDrillWorld = async (choices: StackChoices): Promise<DrillWorld> => {
  const stack = await startStack({}, choices);
  const tokens = await testTokens();
  const { plans } = plansFileSchema.parse(parse(readFileSync(PLANS, 'utf8')));
  const stripe = new StripeStandIn({ plans, publicBaseUrl: tokens.publicBaseUrl });
  const stripeServer = await startStripeServer(stripe);
  const authority = await createTestAuthority();
  const ownerId = newId('usr');
  const owner = await startOwnerStandIn(ownerId);
  const partner = await startPartner(await authority.issue({ names: ['localhost'] }));
  const { billing, gateway, provider } = await startPaidServices(stack, tokens, {
    PAYMENTS: 'stripe',
    STRIPE_SECRET_KEY: 'sk_test_of_the_drill',
    STRIPE_API_BASE: stripeServer.url,
    STRIPE_WEBHOOK_SECRET: stripe.secret,
    PLANS_FILE: PLANS,
  });
  const dispatcher = await stack.start('webhook-dispatcher', {
    PUBLIC_BASE_URL: tokens.publicBaseUrl,
    JWKS_URL: tokens.jwksUrl,
    AUTH_INTERNAL_URL: owner.url,
    BILLING_INTERNAL_URL: billing.internalUrl,
    WEBHOOK_EXTRA_CA_FILE: authority.caFile,
    WEBHOOK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ...(await fixedPorts()),
    WEBHOOK_ALLOW_TARGETS: `localhost:${partner.port}`,
    WEBHOOK_BACKOFF_BASE_MS: '100',
  });
  const clientId = newId('app');
  const buyers = await connectBuyers(dispatcher, tokens, clientId);
  await configure(dispatcher, { tokens, owner: ownerId, clientId, url: `https://localhost:${partner.port}/` });
  const world: DrillWorld = {
    stack,
    stripe,
    provider,
    partner,
    clientId,
    buyers,
    billing,
    gateway,
    dispatcher,
    model: CHAT_MODEL,
    keys: await createPaidKeys({ billing, gateway, stripe, tokens }),
    teller: await startFactTeller(stack),
    killServices: () => {
      for (const { pid } of [...SERVICES.map((name) => world[name].process), world.teller])
        process.kill(pid, 'SIGKILL');
    },
    startServices: async () => {
      for (const name of SERVICES) world[name] = await world[name].replica();
      world.teller = await startFactTeller(stack, world.teller.databaseUrl);
    },
    stop: async () => {
      partner.stop();
      owner.stop();
      await Promise.all([provider.close(), stripeServer.stop(), tokens.stop()]);
      authority.remove();
      await stack.stop();
    },
  };
  return world;
};

const fixedPorts = async () => ({ PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) });

const startPaidServices = async (stack: Stack, tokens: TestTokens, payments: Readonly<Record<string, string>>) => {
  const { providerUrl, providerKey } = await startProvider(stack);
  const services = await startGateway(stack, {
    tokens,
    providerUrl,
    providerKey,
    env: await fixedPorts(),
    billingEnv: { ...(await fixedPorts()), ...payments },
  });
  return { ...services, provider: openClient(providerUrl, 1) };
};

/** Creates API keys whose wallets are topped up at the payment provider, so that the ledger can prove them. */
const createPaidKeys = async ({
  billing,
  gateway,
  stripe,
  tokens,
}: Pick<DrillWorld, 'billing' | 'gateway' | 'stripe'> & { readonly tokens: TestTokens }): Promise<string[]> => {
  const shop = openClient(billing.url, 1);
  const owner = openClient(gateway.url, 1);
  const keys: string[] = [];
  while (keys.length < KEYS) {
    const token = await tokens.consoleSession({ userId: newId('usr'), accountType: 'business' });
    const topUp = { path: '/v1/gateway/wallet/top-ups', json: { amount_micros: TOP_UP_MICROS, ...RETURNS } };
    const session_id = (await shop.expect(200, { method: 'POST', token, ...topUp })).field('session_id');
    pay(stripe, session_id);
    await shop.expect(200, { method: 'POST', path: '/v1/subscriptions/checkout/confirm', token, json: { session_id } });
    const created = await owner.expect(201, {
      method: 'POST',
      path: '/v1/gateway/keys',
      token,
      json: { name: 'Drill' },
    });
    keys.push(created.field('key'));
  }
  await Promise.all([shop.close(), owner.close()]);
  return keys;
};

/** Pays a checkout session as its customer does. */
export const pay = (stripe: StripeStandIn, sessionId: string): void => {
  const session = stripe.list('checkout.session').find((each) => each.client_reference_id === sessionId);
  stripe.pay(String(session?.id), new Date());
};

const connectBuyers = async (
  { databaseUrl }: RunningService,
  tokens: TestTokens,
  clientId: string,
): Promise<Buyer[]> => {
  const userIds = Array.from({ length: BUYERS }, () => newId('usr'));
  const database = new pg.Client(databaseUrl);
  await database.connect();
  await database.query(
    `INSERT INTO connections (svc_user_id, client_id, scope, connected_at, is_connected)
     SELECT id, $2, 'inference', now(), true FROM unnest($1::text[]) AS id`,
    [userIds, clientId],
  );
  await database.end();
  return await Promise.all(userIds.map(async (userId) => ({ userId, token: await tokens.consoleSession({ userId }) })));
};

const configure = async (
  dispatcher: RunningService,
  app: { tokens: TestTokens; owner: string; clientId: string; url: string },
): Promise<void> => {
  const client = openClient(dispatcher.url, 1);
  const token = await app.tokens.consoleSession({ userId: app.owner, accountType: 'business' });
  const path = `/v1/integrations/apps/${app.clientId}/webhook`;
  await client.expect(200, { method: 'PUT', path, token, json: { url: app.url } });
  await client.close();
};
