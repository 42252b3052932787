import type { AppTermsChange, BudgetLimit } from '@svc/contracts';
import type { Executor } from '../transact.ts';
import { type ConnectionRecord, isStanding } from './connection.ts';
import { findCutoff } from './grant-queries.ts';
import { findConnection } from './queries.ts';

/** The change that a consent sends to billing, and the version of the terms for which it was judged. */
export interface PlannedTerms {
  readonly version: number;
  /** Undefined if billing need not know of the consent. */
  readonly change: AppTermsChange | undefined;
}

/** Plans the change of a consent. The consent itself judges again and throws TermsMoved if it differs. */
export const planTerms = async (
  executor: Executor,
  { userId, clientId, budget }: { userId: string; clientId: string; budget: BudgetLimit | null | undefined },
): Promise<PlannedTerms> => {
  const known = await findConnection(executor, { userId, clientId });
  return judgeTerms({ known, cutoff: await findCutoff(executor, clientId), budget });
};

/** Judges the change of a consent, given the connection and the last suspension of its app. */
export const judgeTerms = ({
  known,
  cutoff,
  budget,
}: {
  readonly known: ConnectionRecord | undefined;
  readonly cutoff: string | undefined;
  readonly budget: BudgetLimit | null | undefined;
}): PlannedTerms => {
  if (known === undefined) return { version: 0, change: budget == null ? undefined : { budget } };
  // Billing need not know of a limit that did not exist and is not set.
  const isSet = budget !== undefined && (budget !== null || known.budgetLimitMicros !== null);
  const isResumed = known.isPaused && !isStanding(known, cutoff);
  const change = { ...(isSet ? { budget } : {}), ...(isResumed ? { paused: false } : {}) };
  return { version: known.termsVersion, change: isSet || isResumed ? change : undefined };
};
