import { type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import type { FailingItems } from '../failing-items.ts';
import { DAY_MS, later, MINUTE_MS } from '../time.ts';
import type { Executor } from '../transact.ts';
import { type CheckDomainDeps, recordCheck } from './check-domain.ts';
import { claimDueDomain } from './queries.ts';

export interface DomainChecksDeps extends CheckDomainDeps {
  readonly database: Executor;
  readonly logger: Logger;
  readonly items: FailingItems;
}

const INTERVAL_MS = 5 * MINUTE_MS;

/** Checks verified domains once a day. Replicas share the work: each claims one domain at a time. */
export const startDomainChecks = (deps: DomainChecksDeps): PeriodicWork =>
  runPeriodically({
    name: 'domain_checks',
    intervalMs: INTERVAL_MS,
    run: async (signal) => {
      while (!signal.aborted && (await checkNextDomain(deps)));
    },
    logger: deps.logger,
  });

/**
 * Checks the next domain. The claim counts as a check, so a domain whose check fails is due again a day later. Returns
 * false if none is due.
 */
const checkNextDomain = async (deps: DomainChecksDeps): Promise<boolean> => {
  const now = deps.clock();
  const due = await claimDueDomain(deps.database, { before: later(now, -DAY_MS), now });
  if (due === undefined) return false;
  await deps.items.attempt(async (claimed) => {
    claimed(`${due.userId} ${due.domain}`);
    const proof = await deps.proveDomain(due);
    const checked = await recordCheck(deps, due, { isProven: proof.dns === 'proven' || proof.file === 'proven' });
    if (checked?.status === 'lapsed') deps.logger.info({ component: 'domain_checks' }, 'a verified domain lapsed');
  });
  return true;
};
