import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectToBroker } from '@svc/messaging/broker';
import { readStackFile, type StackFile } from '@svc/testing';
import type { NatsConnection } from 'nats';
import pg from 'pg';
import { expect, inject } from 'vitest';
import type { Watch } from './watch.ts';

export type DatabaseOwner = 'auth' | 'billing' | 'inference-gateway' | 'webhook-dispatcher';

/** Access to the internals of the running product, to cause conditions. */
export interface Product {
  readonly watch: Watch;
  readonly nats: NatsConnection;
  readonly stack: () => Promise<StackFile>;
  readonly pidOf: (name: string) => Promise<number>;
  /** Runs a statement on a service's database in a pooled session. */
  readonly sql: (service: DatabaseOwner, statement: string, values?: unknown[]) => Promise<pg.QueryResult>;
  /** Takes a lock in a separate session and returns a function that releases it. */
  readonly hold: (service: DatabaseOwner, statement: string) => Promise<() => Promise<void>>;
  /** Calls an internal route as another service. */
  readonly internal: (service: DatabaseOwner, path: string, body: unknown) => Promise<Response>;
  readonly close: () => Promise<void>;
}

const CALL_TIMEOUT_MS = 20_000;

/** Opens connections to the running stack. */
export const openProduct = async (watch: Watch): Promise<Product> => {
  const dataDir = inject('dataDir');
  const first = await readStackFile(dataDir);
  const secrets = JSON.parse(await readFile(join(dataDir, 'secrets.json'), 'utf8'));
  const nats = await connectToBroker({ url: first.nats_url, name: 'operator' });
  const open: pg.Client[] = [];
  const session = async (service: DatabaseOwner): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: first.database_urls[service] ?? '' });
    await client.connect();
    open.push(client);
    return client;
  };
  const kept = new Map<DatabaseOwner, Promise<pg.Client>>();
  const keptSession = (service: DatabaseOwner) => {
    const client = kept.get(service) ?? session(service);
    kept.set(service, client);
    return client;
  };
  const stack = () => readStackFile(dataDir);
  const token: string = secrets.INFERENCE_GATEWAY_API_TOKEN;
  const internal: Product['internal'] = async (service, path, body) => {
    const answer = await fetch(`${first.processes[service]?.internal_url}${path}`, {
      method: 'POST',
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBeLessThan(500);
    return answer;
  };
  return {
    watch,
    nats,
    stack,
    pidOf: async (name) => (await stack()).processes[name]?.pid ?? 0,
    sql: async (service, statement, values = []) => (await keptSession(service)).query(statement, values),
    async hold(service, statement) {
      const client = await session(service);
      await client.query('BEGIN');
      await client.query(statement);
      return async () => {
        await client.query('ROLLBACK');
      };
    },
    internal,
    async close() {
      await nats.close();
      await Promise.all(open.map((client) => client.end()));
    },
  };
};

/** Runs an action the given number of times, with limited concurrency. */
export const times = async (
  count: number,
  atOnce: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> => {
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
};
