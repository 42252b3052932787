import { printTable } from './harness/report.ts';
import { runDisorder } from './webhooks/order-and-loss.ts';

/** Runs the dispatcher under crashes, pauses and restarts at full size. Throws if an event is lost or out of order. */
export const measureDisorder = async (): Promise<void> => {
  const report = await runDisorder({
    workers: 4,
    apps: Number(process.env['BENCH_APPS'] ?? 200),
    events: Number(process.env['BENCH_EVENTS'] ?? 20_000),
    rate: Number(process.env['BENCH_RATE'] ?? 120),
    kills: 12,
    pauses: 8,
    restarts: 6,
    seed: Number(process.env['BENCH_SEED'] ?? 1),
  });
  printTable(Object.keys(report), [Object.values(report)]);
  const { lost, gaps, disordered, undelivered, deadLetters } = report;
  if (lost + gaps + disordered + undelivered + deadLetters > 0)
    throw new Error('events were lost, out of order or undelivered');
};
