import { waitFor } from '@svc/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Books, readBooks } from './support/soak/books.ts';
import { type SoakCallers, signUpCallers } from './support/soak/callers.ts';
import { LOST, type SoakTally, sendTraffic } from './support/soak/traffic.ts';
import { type ProviderCount, readProviderCount, readVitals, sampleVitals, type Vitals } from './support/soak/vitals.ts';

/** Short in the suite; set `SOAK_SECONDS=600` for a real soak. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 8);
const KEYS = 4;
const SAMPLES = 40;
/** A subscriber has two slots, and an abandoned request keeps its slot until it ends. */
const EXPECTED =
  /(json|stream|transcription|early): (200|gone)$|^delegated .*: 429$|refused: 400$|busy: 503$|(reset|dropped json): 504$|dropped: broken$/;
/** Memory is checked only in long runs; earlier, code is compiled and pools grow. */
const IS_LONG = SECONDS >= 300;
/** Four would exhaust their plan's caps in ten minutes. */
const SUBSCRIBERS = IS_LONG ? 8 : 4;
const GROWTH_BYTES_MAX = 32 * 1024 * 1024;
/** Pooled connections to billing, the database and the provider, and from the ingress. */
const POOLED_FILES_MAX = 64;
const MS = 1_000;

const mean = (samples: readonly Vitals[], read: (vitals: Vitals) => number): number =>
  samples.reduce((sum, vitals) => sum + read(vitals), 0) / samples.length;
/** Waits until no request is open and billing has received all outcomes. */
const settle = async (userIds: readonly string[]): Promise<void> => {
  await waitFor(
    async () => {
      const { upstreamInFlight, recordsWaiting } = await readVitals();
      const { records, reservations, heldMicros, uncertainHoldsMicros } = await readBooks(userIds);
      const told = [reservations['settled']?.count, reservations['settled']?.micros].join();
      return (
        upstreamInFlight + recordsWaiting === 0 &&
        reservations['reserved'] === undefined &&
        // Unused leases have gone back.
        heldMicros === uncertainHoldsMicros &&
        told === [records['settled']?.count, records['settled']?.costMicros].join()
      );
    },
    { timeoutMs: 90_000 },
  );
};
const sum = (tally: SoakTally, matches: RegExp): number =>
  [...tally.outcomes].filter(([name]) => matches.test(name)).reduce((all, [, count]) => all + count, 0);

describe(`mixed traffic for ${SECONDS} s, with disconnecting callers and a failing provider`, () => {
  let callers: SoakCallers;
  let tally: SoakTally;
  let books: Books;
  let generated: ProviderCount;
  let samples: readonly Vitals[];
  let atRest: Vitals;

  beforeAll(
    async () => {
      callers = await signUpCallers(SUBSCRIBERS, KEYS);
      const before = await readProviderCount();
      const sampling = sampleVitals((SECONDS * MS) / SAMPLES);
      tally = await sendTraffic(callers, Date.now() + SECONDS * MS);
      samples = sampling.stop();
      await settle(callers.userIds);
      books = await readBooks(callers.userIds);
      const after = await readProviderCount();
      generated = {
        requests: after.requests - before.requests,
        input: after.input - before.input,
        output: after.output - before.output,
        audioSeconds: after.audioSeconds - before.audioSeconds,
      };
      atRest = await readVitals();
      process.stdout.write(`${JSON.stringify({ seconds: SECONDS, ...report() })}\n`);
    },
    SECONDS * MS + 240_000,
  );

  const report = () => ({
    requests: sum(tally, /./),
    outcomes: Object.fromEntries([...tally.outcomes].sort()),
    generated,
    books,
    residentMiB: samples.map(({ residentBytes }) => Math.round(residentBytes / 2 ** 20)),
    openFiles: samples.map(({ openFiles }) => openFiles),
    atRest,
  });

  test('runs every scenario without unexpected failures', () => {
    expect(sum(tally, /json: 200/)).toBeGreaterThan(0);
    expect(sum(tally, /stream: gone/)).toBeGreaterThan(0);
    expect(sum(tally, /transcription: 200/)).toBeGreaterThan(0);
    expect([...tally.outcomes.keys()].filter((name) => !EXPECTED.test(name))).toEqual([]);
  });

  test('records exactly the tokens that the provider counts', () => {
    const { settled, uncertain } = books.records;
    // Of dropped responses only the provider knows the usage; reset ones have none.
    const lost = sum(tally, /dropped: broken/) + sum(tally, /dropped json: 504/);
    expect(uncertain?.count ?? 0).toBe(lost + sum(tally, /reset: 504/));
    expect({
      input: (settled?.input ?? 0) + lost * LOST.input,
      output: (settled?.output ?? 0) + lost * LOST.output,
      audioMs: settled?.audioMs,
      requests: (settled?.count ?? 0) + lost,
    }).toEqual({
      input: generated.input,
      output: generated.output,
      audioMs: generated.audioSeconds * MS,
      requests: generated.requests,
    });
    expect(settled?.estimated).toBe(0);
  });

  test('matches billing to the gateway, with only uncertain requests still held', () => {
    const { records, reservations, heldMicros, uncertainHoldsMicros } = books;
    expect(reservations['settled']).toEqual({
      count: records['settled']?.count,
      micros: records['settled']?.costMicros,
    });
    expect(reservations['uncertain']?.count).toBe(records['uncertain']?.count);
    expect(reservations['reserved']).toBeUndefined();
    expect(heldMicros).toBe(uncertainHoldsMicros);
  });

  test('releases connections and does not grow in memory', () => {
    expect(atRest.openFiles).toBeLessThan((samples[0]?.openFiles ?? 0) + POOLED_FILES_MAX);
    if (!IS_LONG) return;
    const third = Math.floor(samples.length / 3);
    const middle = samples.slice(third, 2 * third);
    const last = samples.slice(2 * third);
    expect(mean(last, ({ residentBytes }) => residentBytes)).toBeLessThan(
      mean(middle, ({ residentBytes }) => residentBytes) + GROWTH_BYTES_MAX,
    );
    expect(mean(last, ({ openFiles }) => openFiles)).toBeLessThan(mean(middle, ({ openFiles }) => openFiles) * 1.2);
  });
});
