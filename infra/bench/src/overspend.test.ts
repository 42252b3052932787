import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { type StripeServer, StripeStandIn, startStripeServer } from '@svc/sandbox/stripe';
import { type TestTokens, testTokens, waitFor } from '@svc/testing';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHAT_MODEL, startGateway, startProvider } from './gateway-under-test.ts';
import { openClient } from './harness/http.ts';
import { type RunningService, type Stack, startStack } from './harness/stack.ts';

const REQUESTS = 1_000;
/** Enough for some hundred answers, and for the holds of fewer requests than run at once. */
const FUNDED_MICROS = 1_000_000;
const PRICE = 'price: { input_micros_per_million: 40000000, output_micros_per_million: 120000000 }';
const BILLING_MAIN = fileURLToPath(new URL('../../../services/billing/src/main.ts', import.meta.url));
const QUESTION = {
  model: CHAT_MODEL,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Say something about Lake Como. [[delay_ms=50]]' }],
};

let stack: Stack;
let stripe: StripeServer;
let tokens: TestTokens;
let billing: RunningService;
let database: pg.Client;
let gateways: readonly RunningService[];
let key: string;
let providerUrl: string;

beforeAll(async () => {
  [stack, tokens] = await Promise.all([startStack(), testTokens()]);
  stripe = await startStripeServer(new StripeStandIn({ plans: [], publicBaseUrl: tokens.publicBaseUrl }));
  const provider = await startProvider(stack);
  providerUrl = provider.providerUrl;
  const first = await startGateway(stack, {
    tokens,
    ...provider,
    billingEnv: { SANDBOX_PAYMENTS_URL: stripe.url },
    editRoutes: (text) => text.replaceAll(/price: \{ input_micros.*output.*\}/g, PRICE),
  });
  billing = first.billing;
  const second = await first.gateway.replica({ BILLING_INTERNAL_URL: (await billing.replica()).internalUrl });
  gateways = [first.gateway, second];
  key = await createFundedKey(first.gateway);
  database = new pg.Client(billing.databaseUrl);
  await database.connect();
  // Records every state of the wallet, since polling could miss a wrong one.
  await database.query(`CREATE TABLE bench_wallet_states AS SELECT balance_micros, held_micros FROM wallets WHERE false;
    CREATE FUNCTION bench_keep_state() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO bench_wallet_states VALUES (NEW.balance_micros, NEW.held_micros); RETURN NULL; END $$;
    CREATE TRIGGER bench_keep_state AFTER UPDATE ON wallets FOR EACH ROW EXECUTE FUNCTION bench_keep_state()`);
}, 180_000);
afterAll(async () => {
  await database.end();
  await tokens.stop();
  await stripe.stop();
  await stack.stop();
}, 60_000);

/** Pays through the checkout, so that the ledger has the payment. */
const createFundedKey = async (gateway: RunningService): Promise<string> => {
  const token = await tokens.consoleSession({ userId: newId('usr'), accountType: 'business' });
  const money = openClient(billing.url, 1);
  const owner = openClient(gateway.url, 1);
  const urls = { success_url: 'https://console.example/ok', cancel_url: 'https://console.example/no' };
  const topUp = { amount_micros: FUNDED_MICROS, ...urls };
  const post = { method: 'POST', token } as const;
  const started = await money.expect(200, { ...post, path: '/v1/gateway/wallet/top-ups', json: topUp });
  const sessionId = started.field('session_id');
  const page = openClient(stripe.url, 1);
  await page.expect(200, { method: 'POST', path: `/sandbox/payments/sessions/${sessionId}/complete` });
  const confirmation = { session_id: sessionId };
  await money.expect(200, { ...post, path: '/v1/subscriptions/checkout/confirm', json: confirmation });
  const created = await owner.expect(201, { ...post, path: '/v1/gateway/keys', json: { name: 'Race' } });
  await Promise.all([money.close(), page.close(), owner.close()]);
  return created.field('key');
};

const sendAll = async (): Promise<number[]> => {
  const clients = gateways.map(({ url }) => openClient(url, REQUESTS / 2));
  const path = '/v1/chat/completions';
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, (_, place) =>
      clients[place % clients.length]?.call({ method: 'POST', path, token: key, json: QUESTION }),
    ),
  );
  await Promise.all(clients.map((client) => client.close()));
  return answers.map((answer) => answer?.status ?? 0);
};

const readRow = async (sql: string): Promise<Record<string, number>> => {
  const { rows } = await database.query<Record<string, string>>(sql);
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value)]));
};
const readWallet = () => readRow('SELECT balance_micros AS balance, held_micros AS held FROM wallets');
const readRequests = () =>
  readRow(`SELECT (SELECT count(*) FROM leases) + (SELECT count(*) FROM uncertain_key_requests) AS open,
    count(*) FILTER (WHERE state = 'settled') AS settled, coalesce(sum(cost_micros), 0) AS cost FROM key_requests`);

test('1,000 concurrent requests over two gateways and two billings never overspend a wallet', async () => {
  const statuses = await sendAll();
  const counts = new Map(
    [...new Set(statuses)].map((status) => [status, statuses.filter((one) => one === status).length]),
  );
  expect([...counts.keys()].filter((status) => ![200, 402, 429, 503].includes(status))).toEqual([]);
  // The race was real: the money sufficed for some, not for all.
  expect(counts.get(200)).toBeGreaterThan(0);
  expect(counts.get(402)).toBeGreaterThan(0);
  await waitFor(async () => (await readRequests())['open'] === 0, { timeoutMs: 60_000 });

  const lows = await readRow(`SELECT count(*) AS states, min(balance_micros) AS balance, min(held_micros) AS held,
    max(held_micros) AS peak, min(balance_micros - held_micros) AS available FROM bench_wallet_states`);
  expect(lows['states']).toBeGreaterThan(0);
  expect(lows['peak']).toBeGreaterThan(0);
  expect(Math.min(lows['balance'] ?? -1, lows['held'] ?? -1, lows['available'] ?? -1)).toBeGreaterThanOrEqual(0);

  // Answered, settled and provided requests are the same.
  const { settled, cost = 0 } = await readRequests();
  expect(settled).toBe(counts.get(200));
  expect(await readWallet()).toEqual({ balance: FUNDED_MICROS - cost, held: 0 });
  const client = openClient(providerUrl, 1);
  const { text } = await client.expect(200, { path: '/sandbox/counts' });
  await client.close();
  expect(JSON.parse(text).billed.requests).toBe(settled);
  const check = await stack.startScript(
    BILLING_MAIN,
    { DATABASE_URL: billing.databaseUrl },
    { args: ['check-balances'] },
  );
  await check.succeed();
}, 120_000);
