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

/** Finds what a crashed replica left. */
const POLL_MS = SECOND_MS;

/** Looks at one request and mails a link if its address has an account. Returns false if none was left. */
const stepReset = async (deps: ResetsDeps): Promise<boolean> => {
  if (!(await hasResetRequests(deps.database))) return false;
  return await deps.transact(async (trx) => {
    const request = await takeResetRequest(trx);
    if (request === undefined) return false;
    const email = openEmail(deps.mailKey, request);
    const account = email === undefined ? undefined : (await findAccountByEmail(trx, email))?.account;
    // An account that is about to be deleted is kept by the link in the mail about that.
    if (account === undefined || account.eraseAt !== null) return true;
    const { id: userId, email: to, locale } = account;
    const token = await issueMailedToken(trx, { purpose: 'reset_password', userId, email: to }, deps.clock());
    await enqueueMail(deps, trx, { kind: 'reset_password', userId, to, locale, data: { token } });
    return true;
  });
};

/** A request sealed with an earlier key is dropped. */
const openEmail = (key: Buffer, { id, sealedEmail }: ResetRequestRecord): string | undefined => {
  try {
    return unseal(key, sealedEmail, id).toString();
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
};

/** Starts to look at requests for new passwords in the background. */
export const startResets = (deps: ResetsDeps): PeriodicWork =>
  runPeriodically({
    name: 'password resets',
    intervalMs: POLL_MS,
    run: async (signal) => {
      while (!signal.aborted && (await stepReset(deps)));
    },
    logger: deps.logger,
  });
