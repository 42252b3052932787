import { type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import { findAccountByEmail } from '../accounts/index.ts';
import { SealBroken, unseal } from '../encryption-key.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { issueMailedToken } from '../mailed-tokens/index.ts';
import { SECOND_MS } from '../time.ts';
import type { Executor, Transact } from '../transact.ts';
import { hasResetRequests, type ResetRequestRecord, takeResetRequest } from './queries.ts';

export interface ResetsDeps extends MailOutboxDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly logger: Logger;
}

/** Picks up work left by a crashed replica. */
const POLL_MS = SECOND_MS;

/** Processes one request and mails a link if its address has an account. Returns false if none is left. */
const stepReset = async (deps: ResetsDeps): Promise<boolean> => {
  if (!(await hasResetRequests(deps.database))) return false;
  return await deps.transact(async (trx) => {
    const request = await takeResetRequest(trx);
    if (request === undefined) return false;
    const email = openEmail(deps.mailKey, request);
    const account = email === undefined ? undefined : (await findAccountByEmail(trx, email))?.account;
    // The mail about a pending deletion already has a link that keeps the account.
    if (account === undefined || account.eraseAt !== null) return true;
    const { id: userId, email: to, locale } = account;
    const token = await issueMailedToken(trx, { purpose: 'reset_password', userId, email: to }, deps.clock());
    await enqueueMail(deps, trx, { kind: 'reset_password', userId, to, locale, data: { token } });
    return true;
  });
};

/** Decrypts the address of a request; undefined if it was sealed with an earlier key, and is dropped. */
const openEmail = (key: Buffer, { id, sealedEmail }: ResetRequestRecord): string | undefined => {
  try {
    return unseal(key, sealedEmail, id).toString();
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
};

/** Starts processing requests for new passwords in the background. */
export const startResets = (deps: ResetsDeps): PeriodicWork =>
  runPeriodically({
    name: 'password resets',
    intervalMs: POLL_MS,
    run: async (signal) => {
      while (!signal.aborted && (await stepReset(deps)));
    },
    logger: deps.logger,
  });
