import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedApps, seedEvents, startWorld, type World } from './support/dispatcher.ts';
import { startWorkerProcess } from './support/worker-process.ts';

const APPS = 25;
const EVENTS_PER_APP = 40;
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world?.stop();
});

/** Returns a seeded random generator, so that a run can be repeated. */
const seeded = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
  return seed / 4_294_967_296;
};

/** Returns the order of each app's first arrivals, and the number of repeated ones. */
const arrivals = () => {
  const first = new Map<string, number[]>();
  let again = 0;
  for (const { event } of world.receiver.received) {
    const seen = first.get(event.integration_id) ?? [];
    if (seen.includes(event.sequence)) again += 1;
    else first.set(event.integration_id, [...seen, event.sequence]);
  }
  return { first, again };
};

test('events arrive in order and without a gap while one worker is killed and one is suspended beyond its lease', {
  timeout: 120_000,
}, async () => {
  const random = seeded(20_261_120);
  world.receiver.otherwise = (response) => {
    const chance = random();
    const answer = () => response.writeHead(chance < 0.1 ? 500 : 204).end();
    setTimeout(answer, chance < 0.9 ? 2 : 40);
  };
  const env = { WEBHOOK_BACKOFF_BASE_MS: '10', LOG_LEVEL: 'info', WEBHOOK_SLOTS: '6' };
  const workers = await Promise.all([0, 1, 2].map(() => startWorkerProcess(world, env)));
  const [killed, paused, healthy] = workers;
  if (killed === undefined || paused === undefined || healthy === undefined) throw new Error('three were started');
  const clientIds = await seedApps(world, APPS);
  for (let round = 0; round < EVENTS_PER_APP; round += 1) {
    await seedEvents(world, clientIds);
    if (round === 15) paused.child.kill('SIGSTOP');
    if (round === 20) await killed.kill();
  }
  setTimeout(() => paused.child.kill('SIGCONT'), 17_000);
  const { knex } = world.database;
  const open = () => knex('lanes').whereRaw('done_sequence < last_sequence').count();
  await waitFor(async () => Number((await open())[0]?.['count']) === 0, { timeoutMs: 90_000, intervalMs: 100 });
  expect([await paused.stop(), await healthy.stop()]).toEqual([0, 0]);
  const { first, again } = arrivals();
  const whole = Array.from({ length: EVENTS_PER_APP }, (_, index) => index + 1);
  expect([...first.keys()].sort()).toEqual([...clientIds].sort());
  for (const sequences of first.values()) expect(sequences).toEqual(whole);
  const rows = await knex('events').select('status').groupBy('status').count();
  expect(rows).toEqual([{ status: 'delivered', count: APPS * EVENTS_PER_APP }]);
  // Repeated arrivals are failed attempts, which the log counts, or attempts after a lost lease.
  const failures = Number((await knex('delivery_attempts').whereNotNull('error').count())[0]?.['count']);
  expect(again - failures).toBeGreaterThanOrEqual(0);
  expect(again - failures).toBeLessThanOrEqual(18);
});

test('a stopped worker finishes its attempts and gives its lanes back at once', {
  timeout: 60_000,
}, async () => {
  world.receiver.received.length = 0;
  world.receiver.otherwise = (response) => setTimeout(() => response.writeHead(204).end(), 300);
  const leaving = await startWorkerProcess(world);
  const clientIds = await seedApps(world, 10);
  for (let round = 0; round < 3; round += 1) await seedEvents(world, clientIds);
  await waitFor(() => world.receiver.received.length >= 10);
  expect(await leaving.stop()).toBe(0);
  const { knex } = world.database;
  expect(await knex('lanes').whereNotNull('leased_until')).toEqual([]);
  const before = world.receiver.received.length;
  const next = await startWorkerProcess(world);
  await waitFor(() => world.receiver.received.length === 30);
  expect(arrivals().again).toBe(0);
  expect(before).toBeLessThan(30);
  await next.stop();
});
