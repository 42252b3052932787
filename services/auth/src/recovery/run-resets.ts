import { SealBroken, type Sealer } from '@svc/secrets';
import { type Logger, type PeriodicWork, runPeriodically } from '@svc/service-kit';
import { findAccountByEmail } from '../accounts/index.ts';
import type { FailingItems } from '../failing-items.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { issueMailedToken } from '../mailed-tokens/index.ts';
import type { Devices } from '../sessions/index.ts';
import { SECOND_MS } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { hasResetRequests, type ResetRequestRecord, takeResetRequest } from './queries.ts';
import type { ResetRequest } from './request-reset.ts';

export interface ResetsDeps extends MailOutboxDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly logger: Logger;
  readonly devices: Devices;
  readonly items: FailingItems;
}

/** Picks up work left by a crashed replica. */
const POLL_MS = SECOND_MS;

/**
 * Processes one request and mails a link if its address has an account. Sets aside a request that fails. Returns false
 * if none is left.
 */
const stepReset = async (deps: ResetsDeps): Promise<boolean> => {
  if (!(await hasResetRequests(deps.database))) return false;
  const outcome = await deps.items.attempt((claimed) =>
    deps.transact(async (trx) => {
      const record = await takeResetRequest(trx, deps.items.setAside());
      if (record === undefined) return false;
      claimed(record.id);
      const request = openRequest(deps.mailSealer, record);
      if (request !== undefined) await mailReset(deps, trx, request);
      return true;
    }),
  );
  return outcome !== false;
};

const mailReset = async (deps: ResetsDeps, trx: Transaction, { email, deviceToken }: ResetRequest): Promise<void> => {
  const account = (await findAccountByEmail(trx, email))?.account;
  // The mail about a pending deletion already has a link that keeps the account.
  if (account === undefined || account.eraseAt !== null) return;
  const { id: userId, email: to, locale } = account;
  const token = await issueMailedToken(trx, { purpose: 'reset_password', userId, email: to }, deps.clock());
  // Requests of strangers must not use up the mails of the owner.
  const deviceId = deps.devices.recognize(deviceToken, account);
  const mail = { kind: 'reset_password', userId, to, locale, data: { token } } as const;
  await enqueueMail(deps, trx, mail, deviceId === undefined ? {} : { deviceId });
};

/** Decrypts a request; undefined if it is damaged, and is dropped. */
const openRequest = (sealer: Sealer, { id, sealedRequest }: ResetRequestRecord): ResetRequest | undefined => {
  try {
    // `requestReset` sealed it.
    return JSON.parse(sealer.unseal(sealedRequest, id).toString()) as ResetRequest;
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
