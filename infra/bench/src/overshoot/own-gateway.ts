import { newId } from '@svc/contracts';
import { type TestTokens, testTokens } from '@svc/testing';
import { freePort } from '@svc/testing/servers';
import pg from 'pg';
import { CHAT_MODEL, type GatewayUnderTest, startGateway } from '../gateway-under-test.ts';
import { openClient } from '../harness/http.ts';
import type { RunningService, Stack } from '../harness/stack.ts';
import type { CountingProvider, MoneyGateway, Rest } from './money-gateway.ts';

/** Ended leases and requests of unknown outcome hold money until their outcome or its estimate. */
const STANDING = `
  SELECT w.balance_micros, w.held_micros,
    (SELECT count(*) FROM leases WHERE svc_user_id = $1 AND ended_at IS NULL) AS running
  FROM wallets w WHERE w.svc_user_id = $1`;

/** Starts two gateways and two billings of this repository as one gateway that holds money. */
export const openOwnGateway = async (stack: Stack, provider: CountingProvider): Promise<MoneyGateway> => {
  const tokens = await testTokens();
  const services = await startGateway(stack, {
    tokens,
    providerUrl: provider.url,
    providerKey: provider.key,
    env: await ports(),
    billingEnv: await ports(),
  });
  const otherBilling = await services.billing.replica(await ports());
  const otherGateway = await services.gateway.replica({
    ...(await ports()),
    BILLING_INTERNAL_URL: otherBilling.internalUrl,
  });
  /** In the order in which they are killed. */
  const processes = [services.gateway, services.billing, otherGateway, otherBilling];
  const database = new pg.Client(services.billing.databaseUrl);
  await database.connect();
  return {
    name: 'svc',
    model: CHAT_MODEL,
    urls: () => [processes[0]?.url ?? '', processes[2]?.url ?? ''],
    fund: (micros) => fund({ services, tokens, database }, micros),
    kill: async (turn) => {
      const place = turn % processes.length;
      const victim = processes[place];
      if (victim === undefined) return;
      process.kill(victim.process.pid, 'SIGKILL');
      processes[place] = await victim.replica();
    },
    stop: async () => {
      await database.end();
      await tokens.stop();
    },
  };
};

/** A process that is started again keeps its addresses. */
const ports = async () => ({ PORT: String(await freePort()), INTERNAL_PORT: String(await freePort()) });

interface Own {
  readonly services: GatewayUnderTest;
  readonly tokens: TestTokens;
  readonly database: pg.Client;
}

const fund = async ({ services, tokens, database }: Own, micros: number) => {
  const userId = newId('usr');
  await database.query("SELECT wallet_credit($1, $2, 'EUR', $1)", [userId, micros]);
  const key = await createKey(services.gateway, await tokens.consoleSession({ userId, accountType: 'business' }));
  const rest = async (): Promise<Rest | undefined> => {
    const { rows } = await database.query<Record<string, string>>(STANDING, [userId]);
    const unknownMicros = Number(rows[0]?.['held_micros']);
    const availableMicros = Number(rows[0]?.['balance_micros']) - unknownMicros;
    return Number(rows[0]?.['running']) === 0 ? { availableMicros, unknownMicros } : undefined;
  };
  return { key, rest };
};

const createKey = async (gateway: RunningService, token: string): Promise<string> => {
  const owner = openClient(gateway.url, 1);
  const json = { name: 'Overshoot' };
  const created = await owner.expect(201, { method: 'POST', path: '/v1/gateway/keys', token, json });
  await owner.close();
  return created.field('key');
};
