import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import { openClient } from '../harness/http.ts';
import { type Buyer, type DrillWorld, pay, RETURNS } from './drill-world.ts';

const PHASE_MS = Number(process.env['BENCH_SECONDS'] ?? 4) * 1_000;
const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 30);
const SENDERS = 8;
const RETRY_AFTER_MS = 50;
const PROMPT = 'Say something about Lake Como. [[delay_ms=30]]';

/** Outcomes of the callers of the gateway. */
export interface Callers {
  /** Ids of answered requests, with the time of the answer in milliseconds since the epoch. */
  readonly answered: ReadonlyMap<string, number>;
  readonly failed: ReadonlyMap<number, number>;
  /** Longest time between two answers so far. */
  readonly longestGapMs: () => number;
  readonly failures: () => number;
  readonly stop: () => Promise<void>;
}

/** Calls the gateway without a pause, through every outage. */
export const startCallers = ({ gateway, keys, model }: DrillWorld): Callers => {
  const client = openClient(gateway.url, SENDERS);
  const answered = new Map<string, number>();
  const failed = new Map<number, number>();
  let isOver = false;
  let next = 0;
  const send = async (): Promise<void> => {
    next += 1;
    const token = keys[next % keys.length] ?? '';
    const requestId = newId('req');
    const json = { model, messages: [{ role: 'user', content: PROMPT }] };
    const headers = { 'x-request-id': requestId };
    const path = '/v1/chat/completions';
    const answer = await client.call({ method: 'POST', path, token, json, headers }).catch(() => undefined);
    if (answer?.status === 200) answered.set(requestId, Date.now());
    else {
      const status = answer?.status ?? 0;
      failed.set(status, (failed.get(status) ?? 0) + 1);
      await sleep(RETRY_AFTER_MS);
    }
  };
  const sending = Array.from({ length: SENDERS }, async () => {
    while (!isOver) await send();
  });
  return {
    answered,
    failed,
    failures: () => [...failed.values()].reduce((sum, count) => sum + count, 0),
    longestGapMs: () => {
      const times = [...answered.values()].sort((a, b) => a - b);
      return Math.max(0, ...times.map((time, index) => time - (times[index - 1] ?? time)));
    },
    stop: async () => {
      isOver = true;
      await Promise.all(sending);
      await client.close();
    },
  };
};

/** Outcome of a visit to the shop. */
export type Purchase = 'bought' | 'has one already' | 'not confirmed';

/** Buys a subscription as a person does: opens a checkout, pays at the payment provider, comes back. */
export const buy = async (world: DrillWorld, { token }: Buyer, comesBack = true): Promise<Purchase> => {
  const client = openClient(world.billing.url, 1);
  try {
    const path = '/v1/subscriptions/checkout';
    const json = { plan_id: 'standard', ...RETURNS };
    const opened = await client.call({ method: 'POST', path, token, json });
    if (opened.status === 409) return 'has one already';
    if (opened.status !== 200) throw new Error(`checkout: ${opened.status} ${opened.text}`);
    const sessionId = opened.field('session_id');
    pay(world.stripe, sessionId);
    if (!comesBack) return 'not confirmed';
    await client.expect(200, { method: 'POST', path: `${path}/confirm`, token, json: { session_id: sessionId } });
    return 'bought';
  } finally {
    await client.close();
  }
};

/** People buy and connect for one phase. */
export const trade = async (world: DrillWorld, buyers: readonly Buyer[]): Promise<void> => {
  const rate = CONNECTIONS / (PHASE_MS / 1_000);
  const connecting = world.teller.connect({ clientIds: [world.clientId], count: CONNECTIONS, rate });
  for (const buyer of buyers) {
    await buy(world, buyer);
    await sleep(PHASE_MS / buyers.length / 2);
  }
  await connecting;
};
