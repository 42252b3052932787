import { expect, test } from 'vitest';
import { runRestoreDrill } from './restore.ts';

const TIMEOUT_MS = 900_000;
const NOTHING_BROKEN = {
  soldTwice: 0,
  unknownPurchases: 0,
  ledgerDifference: 0,
  lostUsage: 0,
  lostEvents: 0,
  renamedEvents: 0,
};

test('a restore of all databases to one moment under load, with NATS ahead, sells nothing twice and loses nothing', {
  timeout: TIMEOUT_MS,
}, async () => {
  const report = await runRestoreDrill('ahead');
  expect(report).toMatchObject(NOTHING_BROKEN);
  expect(report.keptAsUnadmitted).toBe(report.usageSinceTheMoment);
});
