import { isUniqueViolation, recordAct } from '@svc/database';
import { type Act, AppError, type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import { findAccountById } from '../accounts/index.ts';
import type { FailingItems } from '../failing-items.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { DAY_MS, later, MINUTE_MS, SECOND_MS } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import type { ProveDomain } from './prove-domain.ts';
import { afterCheck, claimDueDomain, type DomainRecord, lockDomain, updateDomain } from './publisher-domain.ts';

export interface CheckDomainDeps extends MailOutboxDeps {
  readonly transact: Transact;
  readonly proveDomain: ProveDomain;
}

type Key = Pick<DomainRecord, 'userId' | 'domain'>;

const PAUSE_MS = 10 * SECOND_MS;

/**
 * Looks for the proof of a domain and records the outcome. Throws `domain_not_proven` with the content of each place,
 * `domain_taken`, `not_found`, and `too_many_attempts` within ten seconds of the last check.
 */
export const checkDomain = async (deps: CheckDomainDeps, key: Key, act: Act): Promise<DomainRecord> => {
  const claimed = await claimDomain(deps, key);
  const proof = await deps.proveDomain(claimed);
  const isProven = proof.dns === 'proven' || proof.file === 'proven';
  const checked = await recordCheck(deps, key, { isProven, act });
  if (checked === undefined) throw new AppError('not_found');
  if (!isProven) throw new AppError('domain_not_proven', undefined, { details: { ...proof } });
  return checked;
};

const claimDomain = ({ transact, clock }: CheckDomainDeps, key: Key): Promise<DomainRecord> =>
  transact(async (trx) => {
    const now = clock();
    const found = await lockDomain(trx, key);
    if (found === undefined) throw new AppError('not_found');
    const nextAt = found.checkedAt === null ? now : later(found.checkedAt, PAUSE_MS);
    if (nextAt > now) {
      const seconds = Math.ceil((nextAt.getTime() - now.getTime()) / SECOND_MS);
      const headers = { 'retry-after': String(seconds) };
      throw new AppError(
        'too_many_attempts',
        'The domain was checked a moment ago. Wait for the time in `Retry-After`.',
        {
          headers,
        },
      );
    }
    const claimed = { ...found, checkedAt: now };
    await updateDomain(trx, claimed);
    return claimed;
  });

/** Records the outcome of a check. Returns undefined if the domain was removed meanwhile; throws `domain_taken`. */
const recordCheck = async (
  deps: Omit<CheckDomainDeps, 'proveDomain'>,
  key: Key,
  { isProven, act }: { isProven: boolean; act?: Act },
): Promise<DomainRecord | undefined> => {
  try {
    return await deps.transact(async (trx) => {
      const found = await lockDomain(trx, key);
      if (found === undefined) return undefined;
      const checked = afterCheck(found, { isProven, now: deps.clock() });
      await updateDomain(trx, checked);
      if (act !== undefined) await recordAct(trx, act, { type: 'domain', id: null, name: key.domain });
      await mailMissingProof(deps, trx, { before: found, after: checked });
      return checked;
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('domain_taken', undefined, { cause: error });
    throw error;
  }
};

interface DomainChecksDeps extends CheckDomainDeps {
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

/** Mails the owner of a verified domain when its proof is first missing, and when it lapses. */
const mailMissingProof = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { before, after }: { before: DomainRecord; after: DomainRecord },
): Promise<void> => {
  const hasLapsed = before.status === 'verified' && after.status === 'lapsed';
  const isFirstFailure = before.failingSince === null && after.failingSince !== null;
  if (!hasLapsed && !isFirstFailure) return;
  const owner = await findAccountById(trx, after.userId);
  if (owner === undefined) return;
  const { id: userId, email: to, locale } = owner;
  const data = { domain: after.domain, hasLapsed };
  await enqueueMail(deps, trx, { kind: 'domain_proof_missing', userId, to, locale, data });
};
