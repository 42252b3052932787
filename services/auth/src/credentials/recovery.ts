import { randomUUID } from 'node:crypto';
import { routes } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { SealBroken, type Sealer } from '@svc/secrets';
import {
  AppError,
  type Binding,
  bind,
  type Clock,
  type Logger,
  type PeriodicWork,
  runPeriodically,
} from '@svc/service-kit';
import {
  type AccountRecord,
  findAccountByEmail,
  findAccountById,
  markVerified,
  normalizeEmail,
  type PasswordHasher,
  type PasswordRules,
  redeemMailedToken,
  updateCredentials,
  type VerificationDeps,
} from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import type { FailingItems } from '../failing-items.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { findMailedToken, findOldestChangeOf, issueMailedToken } from '../mailed-tokens.ts';
import { type Devices, findActing, signInOriginOf } from '../sessions/index.ts';
import type { AttemptThrottle, SourceLimit } from '../throttling.ts';
import { SECOND_MS } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { distrustedSinceChange, endAccess } from './end-access.ts';

interface ConfirmResetDeps extends VerificationDeps {
  readonly database: Executor;
  readonly passwords: PasswordHasher;
  readonly passwordRules: PasswordRules;
  readonly throttle: AttemptThrottle;
}

interface ConfirmedReset {
  readonly token: string;
  readonly password: string;
  readonly keepAccess: boolean;
  /** Network address of the request. */
  readonly source: string;
}

/**
 * Sets the password of the account of a mailed link and ends its sessions; unless `keepAccess`, also its connections
 * and API keys. Receiving the mail confirms the address. If nothing had confirmed it before, every second factor and
 * identity ends, because the mailbox is the only proof of the owner. After a change of address that was undone or can
 * still be, what was added since ends as well. Throws `token_invalid`, and 422 if the password is easily guessed; the
 * link then stays valid.
 */
const confirmReset = async (deps: ConfirmResetDeps, reset: ConfirmedReset): Promise<void> => {
  const query = { purpose: 'reset_password', token: reset.token, now: deps.clock() } as const;
  const found = await findMailedToken(deps.database, query);
  const owner = found === undefined ? undefined : await findAccountById(deps.database, found.userId);
  if (owner === undefined) throw new AppError('token_invalid');
  await deps.passwordRules.check(reset.password, owner, 'password');
  const passwordHash = await deps.passwords.hash(reset.password);
  await deps.transact(async (trx) => {
    const { account } = await redeemMailedToken(trx, query);
    if (!(await maySignIn(trx, account))) throw new AppError('token_invalid');
    await updateCredentials(trx, owner.id, { passwordHash, distrustedSince: null });
    const distrustedSince = await findDistrust(trx, account, query.now);
    await markVerified(trx, account, query.now);
    await endAccess(deps, trx, {
      account,
      origin: originOf(reset.source, 'browser'),
      now: query.now,
      endings: [
        'sign_out',
        ...(reset.keepAccess ? [] : ['revocation' as const]),
        ...(account.emailVerifiedAt === null ? ['unproven_address' as const] : []),
        ...(distrustedSince === undefined ? [] : ['intrusion' as const]),
      ],
      ...(distrustedSince === undefined ? {} : { distrustedSince }),
    });
    const { id: userId, email: to, locale } = account;
    await enqueueMail(deps, trx, { kind: 'password_changed', userId, to, locale, data: {} });
  });
  // Failed guesses must not lock out the owner, who has just proved ownership.
  await deps.throttle.forgive(owner.email);
};

/** Returns false for an organization whose own sign-in was removed from its members: the organization belongs to the others. */
const maySignIn = async (trx: Transaction, account: AccountRecord): Promise<boolean> =>
  (await findActing(trx, { organizationId: null }, account)) !== undefined;

/** Returns the time since which credentials are distrusted; undefined without an undone or a waiting change of address. */
const findDistrust = async (trx: Transaction, account: AccountRecord, now: Date): Promise<Date | undefined> => {
  const { id: userId, email } = account;
  const changedAt = await findOldestChangeOf(trx, { userId, email, now });
  const times = [account.distrustedSince, changedAt === undefined ? null : distrustedSinceChange(account, changedAt)];
  return times.filter((time) => time !== null).sort((one, other) => one.getTime() - other.getTime())[0];
};

/** A request for a new password, as stored. */
interface ResetRequestRecord {
  readonly id: string;
  readonly sealedRequest: Buffer;
  readonly requestedAt: Date;
}

const insertResetRequest = async (executor: Executor, request: ResetRequestRecord): Promise<void> => {
  await executor('password_reset_requests').insert(snakeKeys(request));
};

/** Deletes the oldest request, except those named, and returns it. Replicas get different ones. */
const takeResetRequest = async (
  trx: Transaction,
  except: readonly string[],
): Promise<ResetRequestRecord | undefined> => {
  const oldest = trx('password_reset_requests')
    .whereNotIn('id', except)
    .orderBy('requested_at')
    .limit(1)
    .forUpdate()
    .skipLocked();
  const [row] = await trx<SnakeKeys<ResetRequestRecord>>('password_reset_requests')
    .whereIn('id', oldest.select('id'))
    .delete()
    .returning(['id', 'sealed_request', 'requested_at']);
  return row === undefined ? undefined : camelKeys(row);
};

const hasResetRequests = async (executor: Executor): Promise<boolean> =>
  (await executor('password_reset_requests').first('id')) !== undefined;

interface RequestResetDeps {
  readonly database: Executor;
  readonly clock: Clock;
  /** Encrypts the addresses of waiting requests. */
  readonly mailSealer: Sealer;
  readonly resetLimit: SourceLimit;
  /** Wakes the worker that processes the requests. */
  readonly wakeResets: () => void;
}

/** A request, as stored encrypted. */
interface ResetRequest {
  readonly email: string;
  /** Device token of the request: a device known to the account has a separate budget. */
  readonly deviceToken: string | undefined;
}

/**
 * Stores a request for a new password. The account is looked up later, so the answer and its time are the same for all
 * addresses. Throws `too_many_attempts`.
 */
const requestReset = async (
  deps: RequestResetDeps,
  { email, deviceToken }: ResetRequest,
  source: string,
): Promise<void> => {
  await deps.resetLimit.take(source);
  const id = randomUUID();
  const request: ResetRequest = { email: normalizeEmail(email), deviceToken };
  const sealedRequest = deps.mailSealer.seal(Buffer.from(JSON.stringify(request)), id);
  await insertResetRequest(deps.database, { id, sealedRequest, requestedAt: deps.clock() });
  deps.wakeResets();
};

/** Binds the routes of a forgotten password. */
export const recoveryRoutes = (
  deps: RequestResetDeps & ConfirmResetDeps & { readonly publicBaseUrl: string },
): Binding[] => [
  bind(routes.requestPasswordReset, async ({ body, clientAddress, req }) => {
    const { deviceToken, source } = signInOriginOf({ req, clientAddress }, deps.publicBaseUrl);
    await requestReset(deps, { email: body.email, deviceToken }, source);
    return { status: 202 };
  }),
  bind(routes.confirmPasswordReset, async ({ body, clientAddress }) => {
    const { token, password, keep_access: keepAccess } = body;
    await confirmReset(deps, { token, password, keepAccess, source: clientAddress });
    return { status: 204 };
  }),
];

interface ResetsDeps extends MailOutboxDeps {
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
  if (account === undefined || account.eraseAt !== null || !(await maySignIn(trx, account))) return;
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
