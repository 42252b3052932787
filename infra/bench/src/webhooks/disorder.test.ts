import { expect, test } from 'vitest';
import { runDisorder } from './disorder.ts';

test('loses no event and keeps the order per app while workers are killed and paused, servers restart and receivers fail', {
  timeout: 300_000,
}, async () => {
  const size = { workers: 2, apps: 20, events: 600, rate: 100, kills: 1, pauses: 1, restarts: 2, seed: 20_261_121 };
  const report = await runDisorder(size);
  const nothing = { lost: 0, gaps: 0, disordered: 0, undelivered: 0, deadLetters: 0 };
  expect(report).toMatchObject({ ...nothing, kills: 1, pauses: 1, restarts: 2 });
  expect(report.attempts).toBeGreaterThan(size.events);
});
