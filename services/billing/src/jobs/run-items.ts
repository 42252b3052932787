import { AppError, type Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { deferItem, forgetFailures } from './deferred-items.ts';
import { UnreadableObject, type Work } from './job.ts';
import type { JobMeters } from './meters.ts';

export interface JobDeps {
  readonly database: Knex;
  readonly logger: Logger;
  readonly jobMeters: JobMeters;
}

/** Failures of the provider in a row after which a run ends. All of its other items would wait as long. */
const OUTAGES_MAX = 3;

/**
 * Does the work for each item. An item that fails is logged, counted and put back, and the others go on. During an outage
 * of the payment provider the run ends early.
 */
export const runItems = async (
  deps: JobDeps,
  work: Work,
  items: readonly string[],
  run: (item: string) => Promise<unknown>,
): Promise<void> => {
  let outages = 0;
  for (const item of items) {
    try {
      await run(item);
      await forgetFailures(deps.database, work, item);
      outages = 0;
    } catch (error) {
      await putBack(deps, { work, item }, error);
      outages = isOutage(error) ? outages + 1 : 0;
      if (outages === OUTAGES_MAX) return;
    }
  }
};

/** Logs and counts the failure of an item, and puts the item back. */
export const putBack = async (
  { database, logger, jobMeters }: JobDeps,
  { work, item }: { readonly work: Work; readonly item: string },
  error: unknown,
): Promise<void> => {
  const reason = reasonOf(error);
  jobMeters.failed(work, reason);
  logger.error({ component: work, target: item, reason, err: error }, 'an item failed; it will be tried again later');
  await deferItem(database, { work, item }, { reason, isOutage: isOutage(error) });
};

/** Names the reason of a failure: one word of a short list. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof UnreadableObject) return error.reason;
  if (error instanceof AppError) return error.code;
  // Errors of the provider's library name their class in `type`.
  const type = error instanceof Error && 'type' in error ? String(error.type) : '';
  return type.startsWith('Stripe') ? 'refused' : 'internal';
};

const isOutage = (error: unknown): boolean => error instanceof AppError && error.kind === 'unavailable';
