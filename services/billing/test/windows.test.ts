import { fileURLToPath } from 'node:url';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { monthlyWindow, usedPercent, weeklyWindow } from '../src/reservations/read-standing.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ migrations: fileURLToPath(new URL('../migrations', import.meta.url)) });
});
afterAll(() => database.drop());

interface Row {
  starts_at: Date;
  ends_at: Date;
}
const askWeekly = async (anchor: Date, at: Date) => {
  const { rows } = await database.knex.raw<{ rows: Row[] }>('SELECT * FROM weekly_window(?, ?)', [anchor, at]);
  return { start: rows[0]?.starts_at, end: rows[0]?.ends_at };
};
const askMonthly = async (terms: Parameters<typeof monthlyWindow>[0], at: Date) => {
  const { anchor, interval, period } = terms;
  const { rows } = await database.knex.raw<{ rows: Row[] }>('SELECT * FROM monthly_window(?, ?, ?, ?, ?)', [
    ...[anchor, interval, period.start, period.end, at],
  ]);
  return { start: rows[0]?.starts_at, end: rows[0]?.ends_at };
};

const day = (text: string) => new Date(`${text}Z`);
const yearly = (anchor: string) => ({
  anchor: day(anchor),
  interval: 'year' as const,
  period: { start: day(anchor), end: new Date(day(anchor).getTime() + 365 * 86_400_000) },
});
const instant = fc.date({ min: day('2023-12-01T00:00'), max: day('2033-01-01T00:00'), noInvalidDate: true });

describe('monthly windows', () => {
  test.each([
    ['2026-01-31T10:00', '2026-02-28T09:59:59.999', '2026-01-31T10:00', '2026-02-28T10:00'],
    ['2026-01-31T10:00', '2026-02-28T10:00', '2026-02-28T10:00', '2026-03-31T10:00'],
    ['2026-01-31T10:00', '2026-03-31T09:00', '2026-02-28T10:00', '2026-03-31T10:00'],
    ['2026-01-31T10:00', '2026-04-30T10:00', '2026-04-30T10:00', '2026-05-31T10:00'],
    ['2027-12-31T00:00', '2028-02-29T00:00', '2028-02-29T00:00', '2028-03-31T00:00'],
    ['2028-02-29T12:00', '2029-02-28T12:00', '2029-02-28T12:00', '2029-03-29T12:00'],
    ['2028-02-29T12:00', '2032-02-29T12:00', '2032-02-29T12:00', '2032-03-29T12:00'],
    ['2026-03-15T00:00', '2026-03-15T00:00', '2026-03-15T00:00', '2026-04-15T00:00'],
  ])('anchored at %s, %s lies in [%s, %s)', async (anchor, at, start, end) => {
    const expected = { start: day(start), end: day(end) };
    expect(monthlyWindow(yearly(anchor), day(at))).toEqual(expected);
    expect(await askMonthly(yearly(anchor), day(at))).toEqual(expected);
  });

  test('are the paid month while it lasts, and the month between anniversaries while a renewal is late', async () => {
    const terms = {
      anchor: day('2026-01-10T00:00'),
      interval: 'month' as const,
      period: { start: day('2026-03-01T00:00'), end: day('2026-03-10T00:00') },
    };
    for (const window of [monthlyWindow, askMonthly]) {
      expect(await window(terms, day('2026-03-09T23:59:59.999'))).toEqual(terms.period);
      const late = { start: day('2026-03-10T00:00'), end: day('2026-04-10T00:00') };
      expect(await window(terms, day('2026-03-10T00:00'))).toEqual(late);
    }
  });

  test('contain the instant, join without gaps, and are equal in SQL and TypeScript', async () => {
    await fc.assert(
      fc.asyncProperty(instant, instant, async (anchor, at) => {
        const terms = {
          anchor,
          interval: 'year' as const,
          period: { start: anchor, end: new Date(anchor.getTime() + 1) },
        };
        const window = monthlyWindow(terms, at);
        expect(window.start <= at && at < window.end).toBe(true);
        expect(monthlyWindow(terms, window.end).start).toEqual(window.end);
        expect(await askMonthly(terms, at)).toEqual(window);
      }),
      { numRuns: 300 },
    );
  });
});

describe('weekly windows', () => {
  test('are seven times 24 hours over a leap day and a month end', async () => {
    const anchor = day('2028-02-26T06:30');
    const expected = { start: anchor, end: day('2028-03-04T06:30') };
    expect(weeklyWindow(anchor, day('2028-03-04T06:29:59.999'))).toEqual(expected);
    expect(await askWeekly(anchor, day('2028-03-04T06:29:59.999'))).toEqual(expected);
  });

  test('contain the instant, join without gaps, and are equal in SQL and TypeScript', async () => {
    await fc.assert(
      fc.asyncProperty(instant, instant, async (anchor, at) => {
        const window = weeklyWindow(anchor, at);
        expect(window.start <= at && at < window.end).toBe(true);
        expect(window.end.getTime() - window.start.getTime()).toBe(7 * 86_400_000);
        expect(await askWeekly(anchor, at)).toEqual(window);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the percentage used', () => {
  test.each([
    [0, 1000, 0],
    [9, 1000, 0],
    [10, 1000, 1],
    [999, 1000, 99],
    [1000, 1000, 100],
    [5000, 1000, 100],
    [0, 0, 100],
    [9_007_199_254_740_990, 9_007_199_254_740_991, 99],
  ])('of %i in %i is %i', (used, limit, percent) => {
    expect(usedPercent(used, limit)).toBe(percent);
  });
});
