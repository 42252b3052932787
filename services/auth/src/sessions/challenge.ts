import { hash, randomBytes } from 'node:crypto';
import { AppError } from '@svc/service-kit';
import type { AccountRecord } from '../accounts/index.ts';
import { createAssertionOptions, type FactorsDeps, listFactorsOfUser } from '../factors/index.ts';
import { later, MINUTE_MS } from '../time.ts';
import { findChallenge, insertChallenge } from './queries.ts';

/** Time for the second step of a sign-in. */
const CHALLENGE_MS = 10 * MINUTE_MS;
const BYTES = 32;

/** A sign-in between its two steps. */
export interface ChallengeRecord {
  readonly digest: Buffer;
  readonly userId: string;
  /** As the account had it when its password was checked: signing out everywhere voids the challenge. */
  readonly sessionsRevokedThrough: string | null;
  readonly expiresAt: Date;
}

/** Opens the second step of a sign-in whose password was right. Returns the refusal that says so. */
export const openChallenge = async (deps: FactorsDeps, account: AccountRecord): Promise<AppError> => {
  const challenge = randomBytes(BYTES).toString('base64url');
  await insertChallenge(deps.database, {
    digest: digestOf(challenge),
    userId: account.id,
    sessionsRevokedThrough: account.sessionsRevokedThrough,
    expiresAt: later(deps.clock(), CHALLENGE_MS),
  });
  const factors = await listFactorsOfUser(deps.database, account.id);
  const types = [...new Set(factors.map(({ type }) => type))];
  const options = await createAssertionOptions(deps, { purpose: 'second_factor', userId: account.id });
  return new AppError('second_factor_required', undefined, {
    details: { challenge, factors: types, ...(options === undefined ? {} : { passkey_options: options }) },
  });
};

/** Returns the open challenge with this text. Throws `challenge_invalid`. */
export const requireChallenge = async (deps: FactorsDeps, challenge: string): Promise<ChallengeRecord> => {
  const found = await findChallenge(deps.database, digestOf(challenge));
  if (found === undefined || found.expiresAt <= deps.clock()) throw new AppError('challenge_invalid');
  return found;
};

const digestOf = (challenge: string): Buffer => hash('sha256', challenge, 'buffer');
