import type { Metrics } from '@svc/service-kit';

/** Metrics of the own journal and of journals to take over. */
export interface JournalMeters {
  readonly failures: { readonly inc: () => void };
  readonly left: { readonly set: (count: number) => void };
}

export const createJournalMeters = (metrics: Metrics): JournalMeters => ({
  failures: metrics.counter({
    name: 'usage_journal_failures_total',
    help: 'Outcomes that could not be appended to the usage journal; a crash before they reach the database loses them.',
  }),
  left: metrics.gauge({
    name: 'usage_journals_left',
    help: 'Journals of dead processes that could not be replayed yet.',
  }),
});
