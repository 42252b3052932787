import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedApps, seedEvents, startDispatcher, startWorld, type World } from './support/dispatcher.ts';

const PROMPT = 20;
const HANGING = 1_000;
const ROUNDS = 15;
/** Of a round's events. On a busy machine a receiver may be late, and then waits with those that hang. */
const SHARE = 0.9;
const ATTEMPT_TIMEOUT_MS = 10_000;
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world?.stop();
});

test('events of prompt receivers wait for none of 1,000 receivers that hang', { timeout: 240_000 }, async () => {
  world.receiver.otherwise = (response, { path }) => {
    if (path !== '/hang') response.writeHead(204).end();
  };
  const dispatcher = await startDispatcher(world, { env: { WEBHOOK_SLOTS: '64', LOG_LEVEL: 'warn' } });
  const prompt = await seedApps(world, PROMPT);
  const arrived = () => world.receiver.received.filter(({ event }) => prompt.includes(event.integration_id)).length;
  await seedEvents(world, prompt);
  await waitFor(() => arrived() === PROMPT, { timeoutMs: 60_000 });
  await seedEvents(world, await seedApps(world, HANGING, world.receiver.url.replace('/hook', '/hang')));

  const roundsMs: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = arrived();
    const storedMs = performance.now();
    await seedEvents(world, prompt);
    await waitFor(() => arrived() >= before + PROMPT * SHARE, { timeoutMs: 60_000 });
    roundsMs.push(performance.now() - storedMs);
  }

  // An event behind an attempt that hangs would wait for its time-out.
  expect(Math.max(...roundsMs)).toBeLessThan(ATTEMPT_TIMEOUT_MS);
  expect(world.receiver.received.filter(({ path }) => path === '/hang').length).toBeGreaterThan(100);
  await waitFor(() => arrived() === PROMPT * (1 + ROUNDS), { timeoutMs: 120_000 });
  await dispatcher.stop();
});
