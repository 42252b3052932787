import { ANALYTICS_DAYS_MAX } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';

/** UTC days as `YYYY-MM-DD`, both included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;

/** Completes a range: 30 days up to today. Throws a 422 fault on `to` if it ends before it begins, or is too long. */
export const readRange = (given: { from?: string | undefined; to?: string | undefined }, now: Date): DayRange => {
  const to = given.to ?? dayOf(now.getTime());
  const from = given.from ?? dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw invalidField(['query', 'to'], 'value_error', 'Value error, it is before `from`');
  if (days > ANALYTICS_DAYS_MAX) {
    throw invalidField(
      ['query', 'to'],
      'value_error',
      `Value error, the range is longer than ${ANALYTICS_DAYS_MAX} days`,
    );
  }
  return { from, to };
};

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
