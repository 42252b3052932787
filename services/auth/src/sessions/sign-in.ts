import { describeDevice } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import {
  type AccountRecord,
  findAccountByEmail,
  findAccountById,
  markFirstSignIn,
  normalizeEmail,
  type PasswordHasher,
} from '../accounts/index.ts';
import { type FactorClaim, type FactorsDeps, findFactorProof } from '../factors/index.ts';
import { formatInstant } from '../formats.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import type { ActingMembership } from '../memberships.ts';
import { coarseNetwork, subscriberOf } from '../network-address.ts';
import type { AttemptSubject, AttemptThrottle } from '../throttling.ts';
import { later } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import type { Devices } from './devices.ts';
import { findActing, insertSession, newSessionId, SESSION_MS, type SessionRecord, signInOf } from './session.ts';
import type { SignInOrigin } from './session-cookies.ts';
import { type SessionTokenDeps, type SignedSessionToken, signSessionToken } from './session-token.ts';
import { deleteChallenge, openChallenge, requireChallenge, type SecondStep } from './sign-in-challenges.ts';

export interface BeginSessionDeps extends SessionTokenDeps, MailOutboxDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly devices: Devices;
}

export interface StartSessionDeps extends BeginSessionDeps, FactorsDeps {
  readonly passwords: PasswordHasher;
  readonly throttle: AttemptThrottle;
}

/** A new session. */
export interface StartedSession extends SignedSessionToken {
  readonly session: SessionRecord;
  readonly account: AccountRecord;
  /** Organization that the person acts for; null for a personal account that acts for itself. */
  readonly acting: ActingMembership | null;
  /** Identifies this device to the account. */
  readonly deviceToken: string;
}

/** Returns the budget that a failed sign-in spends: that of a known device, or those of the address and source. */
const attemptSubject = (
  { devices }: { devices: Devices },
  account: AccountRecord,
  { source, deviceToken }: SignInOrigin,
): AttemptSubject => {
  const deviceId = devices.recognize(deviceToken, account);
  return deviceId === undefined ? { email: account.email, source } : { deviceId, userId: account.id };
};

/**
 * Signs a person in. Known and unknown addresses cost the same work and get the same answer. Throws
 * `invalid_credentials`, `too_many_attempts`, and `second_factor_required` if the password is correct but not enough.
 */
export const signIn = async (
  deps: StartSessionDeps,
  credentials: { email: string; password: string },
  origin: SignInOrigin,
): Promise<StartedSession> => {
  const account = await provePassword(deps, credentials, origin);
  if (account.hasSecondFactor) throw secondFactorRequired(await openChallenge(deps, account));
  return await startSession(deps, account, origin);
};

/** Returns the account with this address and password. Throws `invalid_credentials` and `too_many_attempts`. */
export const provePassword = async (
  deps: StartSessionDeps,
  credentials: { email: string; password: string },
  origin: SignInOrigin,
): Promise<AccountRecord> => {
  const { source } = origin;
  const email = normalizeEmail(credentials.email);
  const found = await findAccountByEmail(deps.database, email);
  const subject = found === undefined ? { email, source } : attemptSubject(deps, found.account, origin);
  const attempt = await deps.throttle.begin(subject);
  const { passwordHash } = found ?? {};
  const fits = await deps.passwords.verify(passwordHash ?? undefined, credentials.password, subscriberOf(source));
  if (found === undefined || !fits) {
    await attempt.fail();
    throw new AppError('invalid_credentials');
  }
  await attempt.succeed();
  return found.account;
};

const secondFactorRequired = ({ challenge, factors, passkeyOptions }: SecondStep): AppError => {
  const options = passkeyOptions === undefined ? {} : { passkey_options: passkeyOptions };
  return new AppError('second_factor_required', undefined, { details: { challenge, factors, ...options } });
};

/**
 * Starts a session for a person who has just authenticated, and mails the owner if the device is new. Throws
 * `invalid_credentials` if the account was signed out everywhere since it was read, and `account_deletion_pending`.
 */
export const startSession = async (
  deps: BeginSessionDeps,
  account: AccountRecord,
  origin: SignInOrigin,
): Promise<StartedSession> => await deps.transact((trx) => startSessionIn(deps, trx, { account, origin }));

/** A session to start. */
interface SessionStart {
  readonly account: AccountRecord;
  readonly origin: SignInOrigin;
  /** Time at which the person authenticated. Default: now. */
  readonly authenticatedAt?: Date;
  /** Held organization that the person will act for. Default: the account acts for itself. */
  readonly organization?: AccountRecord | undefined;
  /** Held session from which the person switches; it ends no earlier. Default: this is a sign-in. */
  readonly switchedFrom?: SessionRecord;
}

/** As `startSession`, but in the caller's transaction. */
export const startSessionIn = async (
  deps: Omit<BeginSessionDeps, 'transact' | 'database'>,
  trx: Transaction,
  start: SessionStart,
): Promise<StartedSession> => {
  const { account, origin } = start;
  if (account.eraseAt !== null) throw new AppError('account_deletion_pending');
  const isKnown = deps.devices.recognize(origin.deviceToken, account) !== undefined;
  const isFirst = account.firstSignedInAt === null && (await markFirstSignIn(trx, account.id, deps.clock()));
  const started = await insertNewSession(deps, trx, start);
  if (!isKnown && !isFirst) await mailNewDevice(deps, trx, started);
  return started;
};

/**
 * As `startSession`, but in the caller's transaction, and mails nothing. The account that opened an organization cannot sign
 * in once it is no longer a member of it.
 */
export const insertNewSession = async (
  deps: Omit<BeginSessionDeps, 'transact' | 'database' | 'mailSealer'>,
  executor: Executor,
  { account, origin, authenticatedAt, organization, switchedFrom }: SessionStart,
): Promise<StartedSession> => {
  const createdAt = deps.clock();
  const revokedThrough = [account, organization].flatMap((one) => one?.sessionsRevokedThrough ?? []).toSorted();
  const session: SessionRecord = {
    id: newSessionId(deps, createdAt, revokedThrough.at(-1) ?? null),
    userId: account.id,
    createdAt,
    authenticatedAt: switchedFrom?.authenticatedAt ?? authenticatedAt ?? createdAt,
    expiresAt: switchedFrom?.expiresAt ?? later(createdAt, SESSION_MS),
    lastUsedAt: createdAt,
    userAgent: origin.userAgent ?? null,
    network: coarseNetwork(origin.source),
    organizationId: organization?.id ?? null,
    signInId: switchedFrom === undefined ? null : signInOf(switchedFrom),
  };
  const isStored = await insertSession(executor, session, account.sessionsRevokedThrough);
  // The password was changed during the check.
  if (!isStored) throw new AppError('invalid_credentials');
  const acting = await findActing(executor, session, account);
  if (acting === undefined) throw new AppError('invalid_credentials');
  return {
    session,
    account,
    acting,
    ...(await signSessionToken(deps, session, { account, acting })),
    deviceToken: deps.devices.remember(origin.deviceToken, account),
  };
};

const mailNewDevice = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { account, session }: StartedSession,
): Promise<void> => {
  const { id: userId, email: to, locale } = account;
  const at = formatInstant(session.createdAt, locale);
  const data = { device: describeDevice(session.userAgent), network: session.network, at };
  await enqueueMail(deps, trx, { kind: 'new_device', userId, to, locale, data });
};

/** Second step of a sign-in, as presented by the person. */
export interface SecondProof {
  readonly challenge: string;
  readonly claim: FactorClaim;
  /** Does more in the transaction that starts the session. */
  readonly complete?: (trx: Transaction, account: AccountRecord) => Promise<void>;
}

/**
 * Completes a sign-in with a second factor. Uses up challenge and proof in the same transaction as the session starts.
 * Throws `challenge_invalid`, `invalid_second_factor` and `too_many_attempts`.
 */
export const finishSignIn = async (
  deps: StartSessionDeps,
  { challenge, claim, complete }: SecondProof,
  origin: SignInOrigin,
): Promise<StartedSession> => {
  const opened = await requireChallenge(deps, challenge);
  const account = await findAccountById(deps.database, opened.userId);
  const isStale = account?.sessionsRevokedThrough !== opened.sessionsRevokedThrough;
  if (account === undefined || isStale) throw new AppError('challenge_invalid');
  const attempt = await deps.throttle.begin(attemptSubject(deps, account, origin));
  const proof = await findFactorProof(deps, account, { claim, purpose: 'second_factor' });
  if (proof === undefined) {
    await attempt.fail();
    throw new AppError('invalid_second_factor');
  }
  await attempt.succeed();
  return await deps.transact(async (trx) => {
    if (!(await deleteChallenge(trx, opened.digest))) throw new AppError('challenge_invalid');
    if (!(await proof.use(trx))) throw new AppError('invalid_second_factor');
    const started = await startSessionIn(deps, trx, { account, origin });
    await complete?.(trx, account);
    return started;
  });
};
