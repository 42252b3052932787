import { createMetrics } from '@svc/service-kit';
import { beforeEach, expect, test } from 'vitest';
import { createFailingItems, type FailingItems } from './failing-items.ts';

let now: Date;
let metrics: ReturnType<typeof createMetrics>;
let items: FailingItems;

beforeEach(() => {
  now = new Date('2026-10-01T12:00:00Z');
  metrics = createMetrics('auth');
  items = createFailingItems('erasures', { clock: () => now, metrics, logger: { error: () => undefined } });
});

const fail = (id: string) =>
  items.attempt(async (claimed) => {
    claimed(id);
    throw new Error('broken');
  });
const pass = (seconds: number) => {
  now = new Date(now.getTime() + seconds * 1_000);
};
const failing = async (): Promise<string | undefined> =>
  /auth_work_items_failing\{work="erasures",service="auth"\} (\d+)/.exec((await metrics.render()).body)?.[1];

test('sets a failed item aside for a growing pause, counts it, and forgets it after a success', async () => {
  expect(await fail('usr_1')).toBe('failed');
  expect([items.setAside(), await failing()]).toEqual([['usr_1'], '1']);
  pass(5);
  expect(items.setAside()).toEqual([]);
  await fail('usr_1');
  pass(5);
  expect(items.setAside()).toEqual(['usr_1']);
  pass(5);
  expect(await items.attempt(async (claimed) => claimed('usr_1'))).toBeUndefined();
  expect([items.setAside(), await failing()]).toEqual([[], '0']);
});

test('pauses for an hour at most, and forgets an item that does not come back', async () => {
  for (let failures = 0; failures < 20; failures += 1) await fail('usr_1');
  pass(3_599);
  expect(items.setAside()).toEqual(['usr_1']);
  pass(3_602);
  expect([items.setAside(), await failing()]).toEqual([[], '0']);
});

test('rethrows a failure before an item is claimed, and one of the connection to the database', async () => {
  const broken = Promise.reject(new Error('broken'));
  await expect(items.attempt(() => broken)).rejects.toThrow('broken');
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const attempt = items.attempt(async (claimed) => {
    claimed('usr_1');
    throw refused;
  });
  await expect(attempt).rejects.toBe(refused);
  expect(items.setAside()).toEqual([]);
});

test('remembers a thousand items', async () => {
  for (let index = 0; index < 1_001; index += 1) await fail(`usr_${index}`);
  expect(items.setAside()).toHaveLength(1_000);
});
