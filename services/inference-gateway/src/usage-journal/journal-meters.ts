import type { Metrics } from '@svc/service-kit';

/** Counters of a journal and of the journals that were taken over. */
export interface JournalMeters {
  readonly failures: { readonly inc: () => void };
  readonly left: { readonly set: (count: number) => void };
}

/** Registers the meters. */
export const createJournalMeters = (metrics: Metrics): JournalMeters => ({
  failures: metrics.counter({
    name: 'usage_journal_failures_total',
    help: 'Outcomes that could not be appended to the usage journal; a crash before they reach the database loses them.',
  }),
  left: metrics.gauge({
    name: 'usage_journals_left',
    help: 'Journals of dead processes whose outcomes are not in the database yet.',
  }),
});
