import { rehearse } from '@svc/service-kit';
import { captureLogs } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CALLERS, openStage } from '../src/rehearsal/index.ts';
import { type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;

beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());

const countRows = async (): Promise<Record<string, number>> => {
  const { rows } = await billing.db.raw<{ rows: { name: string }[] }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1",
  );
  const counts: Record<string, number> = {};
  for (const { name } of rows) {
    const counted = await billing.db(name).count({ rows: '*' }).first();
    counts[name] = Number(counted?.['rows']);
  }
  return counts;
};

test('every call of a rehearsal is answered, and nothing is left of it', async () => {
  const before = await countRows();
  expect(before['reservations']).toBe(0);
  const logs = captureLogs();
  const { logger } = logs;
  await rehearse({ requests: 64, callers: CALLERS, openStage: () => openStage(billing.config), logger });
  expect(logs.entries.map(({ message }) => message)).toEqual(['rehearsed']);
  expect(await countRows()).toEqual(before);
});
