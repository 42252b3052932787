import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@svc/contracts';
import { testTokens } from '@svc/testing';
import pg from 'pg';
import { compare, PROMPT, prepare, type World } from './chaos.ts';
import { openClient } from './harness/http.ts';
import { printTable, say } from './harness/report.ts';
import { startStack } from './harness/stack.ts';

const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 3_000);
const ACCOUNTS = Number(process.env['BENCH_ACCOUNTS'] ?? 100);
/** Time that an operator of PostgreSQL takes to notice the loss and to decide. */
const PROMOTE_AFTER_MS = Number(process.env['BENCH_PROMOTE_AFTER_MS'] ?? 0);
const SENDERS = 24;
const RETRY_AFTER_MS = 20;

/** A request from its caller's point of view; status 0 is no answer. */
interface Outcome {
  readonly requestId: string;
  readonly status: number;
  readonly at: number;
}

/** Sends requests on both routes, kills the primary halfway, promotes the standby, and reports what callers saw. */
export const measureFailover = async (): Promise<void> => {
  const stack = await startStack({}, { hasStandby: true });
  const tokens = await testTokens();
  try {
    const world = await prepare(stack, tokens, ACCOUNTS);
    const { outcomes, promotedAfterMs } = await send(world);
    const answered = outcomes.filter(({ status }) => status === 200);
    reportOutcomes(outcomes, promotedAfterMs);
    const { host } = new URL(stack.standby?.url ?? '');
    const databaseUrl = world.billing.databaseUrl.replace(new URL(world.billing.databaseUrl).host, host);
    const settled = { ...world, billing: { ...world.billing, databaseUrl } };
    const result = await compare(settled, new Set(answered.map(({ requestId }) => requestId)));
    say(`\n${JSON.stringify(result)}\n`);
    if (result.wrong + result.difference + result.open > 0) process.exitCode = 1;
  } finally {
    await tokens.stop();
    await stack.stop();
  }
};

const send = async (world: World): Promise<{ outcomes: Outcome[]; promotedAfterMs: number }> => {
  const client = openClient(world.gateway.url, SENDERS);
  const outcomes: Outcome[] = [];
  let answered = 0;
  let next = 0;
  let failover: Promise<number> | undefined;
  const sendOne = async (): Promise<void> => {
    next += 1;
    const route = world.routes[next % world.routes.length];
    if (route === undefined) throw new Error('no accounts');
    const { path, token, model } = route;
    const requestId = newId('req');
    const json = { model, messages: [{ role: 'user', content: PROMPT }] };
    const headers = { 'x-request-id': requestId };
    const answer = await client.call({ method: 'POST', path, token, json, headers }).catch(() => undefined);
    outcomes.push({ requestId, status: answer?.status ?? 0, at: performance.now() });
    if (answer?.status === 200) answered += 1;
    else await sleep(RETRY_AFTER_MS);
    if (answered >= REQUESTS / 2) failover ??= failOver(world);
  };
  await Promise.all(
    Array.from({ length: SENDERS }, async () => {
      while (answered < REQUESTS) await sendOne();
    }),
  );
  await client.close();
  return { outcomes, promotedAfterMs: (await failover) ?? 0 };
};

/** Kills the primary and promotes the standby. Returns how long that took. */
const failOver = async ({ stack }: World): Promise<number> => {
  const startedAt = performance.now();
  await stack.postgres.kill();
  await sleep(PROMOTE_AFTER_MS);
  const standby = new pg.Client(stack.standby?.url);
  await standby.connect();
  await standby.query('SELECT pg_promote()');
  await standby.end();
  return performance.now() - startedAt;
};

const reportOutcomes = (outcomes: readonly Outcome[], promotedAfterMs: number): void => {
  const failed = outcomes.filter(({ status }) => status !== 200);
  const answeredAt = outcomes.filter(({ status }) => status === 200).map(({ at }) => at);
  const gaps = answeredAt.map((at, index) => at - (answeredAt[index - 1] ?? at));
  const statuses = Map.groupBy(failed, ({ status }) => status);
  printTable(
    ['from the loss to the promotion, ms', 'longest time without an answer 200, ms', 'failed requests by status'],
    [
      [
        Math.round(promotedAfterMs),
        Math.round(Math.max(...gaps)),
        [...statuses].map(([status, all]) => `${status}: ${all.length}`).join(', '),
      ],
    ],
  );
};
