import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedApps, seedEvents, startDispatcher, startWorld, type World } from './support/dispatcher.ts';

const HEALTHY = 20;
const HANGING = 1_000;
const ROUNDS = 15;
/** Other load disturbs single measurements. A hanging receiver would disturb all of them. */
const MEASUREMENTS = 4;
const ATTEMPT_TIMEOUT_MS = 10_000;
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world?.stop();
});

/** Returns the 99th percentile of the milliseconds from commit to receiver. */
const measure = async (clientIds: readonly string[]): Promise<number> => {
  const latencies: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = world.receiver.received.length;
    const storedMs = performance.now();
    await seedEvents(world, clientIds);
    const arrived = () =>
      world.receiver.received.slice(before).filter(({ event }) => clientIds.includes(event.integration_id));
    await waitFor(() => arrived().length === clientIds.length, { timeoutMs: 60_000 });
    latencies.push(...arrived().map(({ atMs }) => atMs - storedMs));
    await sleep(50);
  }
  latencies.sort((a, b) => a - b);
  return latencies[Math.floor(latencies.length * 0.99)] ?? 0;
};

test('1,000 apps with hanging receivers at most double the latency of the others', { timeout: 240_000 }, async () => {
  world.receiver.otherwise = (response, { path }) => {
    if (path !== '/hang') response.writeHead(204).end();
  };
  const dispatcher = await startDispatcher(world, { env: { WEBHOOK_SLOTS: '64', LOG_LEVEL: 'warn' } });
  const healthy = await seedApps(world, HEALTHY);
  await measure(healthy);
  const alone = await measure(healthy);
  const hanging = await seedApps(world, HANGING, world.receiver.url.replace('/hook', '/hang'));
  await seedEvents(world, hanging);
  // The poll alone takes a quarter of a second, and a busy machine needs a margin.
  const atMost = 2 * alone + 200;
  let beside = await measure(healthy);
  for (let measured = 1; beside >= atMost && measured < MEASUREMENTS; measured += 1) beside = await measure(healthy);
  expect(world.receiver.received.filter(({ path }) => path === '/hang').length).toBeGreaterThan(100);
  // A healthy event behind a hanging attempt would wait for its time-out.
  expect(beside).toBeLessThan(ATTEMPT_TIMEOUT_MS);
  expect(beside).toBeLessThan(atMost);
  await dispatcher.stop();
});
