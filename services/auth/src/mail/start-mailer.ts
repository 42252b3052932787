import { type Metrics, runPeriodically } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { countWaitingMails } from './queries.ts';
import { type SendMailsDeps, sendDueMails } from './send-due-mails.ts';

const INTERVAL_MS = 500;
const OUTCOMES = ['sent', 'deferred', 'failed'] as const;

export interface MailerDeps extends Omit<SendMailsDeps, 'outcomes'> {
  readonly database: Executor;
  readonly metrics: Metrics;
}

/** Sends waiting mails until stopped. Replicas share the work. */
export const startMailer = (deps: MailerDeps): { stop: () => Promise<void> } => {
  const outcomes = deps.metrics.counter({
    name: 'auth_mails_total',
    help: 'Attempts to send a mail, by outcome.',
    labelNames: ['outcome'],
  });
  // Prometheus sees a counter grow only if it has been 0 before.
  for (const outcome of OUTCOMES) outcomes.inc({ outcome }, 0);
  deps.metrics.gauge({
    name: 'auth_mails_waiting',
    help: 'Mails that the mail server has not taken yet.',
    // A scrape must not fail with the database.
    read: () => countWaitingMails(deps.database).catch(() => Number.NaN),
  });
  const stopping = new AbortController();
  const work = runPeriodically({
    name: 'mail',
    intervalMs: INTERVAL_MS,
    run: () => sendDueMails({ ...deps, outcomes }, stopping.signal),
    logger: deps.logger,
  });
  return {
    stop: async () => {
      stopping.abort();
      await work.stop();
      deps.transport.close();
    },
  };
};
