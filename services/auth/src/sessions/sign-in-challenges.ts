import { hash, randomBytes } from 'node:crypto';
import type { FactorType } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { AppError } from '@svc/service-kit';
import type { AccountRecord } from '../accounts/index.ts';
import { createAssertionOptions, type FactorsDeps, listFactorsOfUser, type RequestOptions } from '../factors/index.ts';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';

/** Time for the second step of a sign-in. */
const CHALLENGE_MS = 10 * MINUTE_MS;

const BYTES = 32;

/** A sign-in between its two steps. */
interface ChallengeRecord {
  readonly digest: Buffer;
  readonly userId: string;
  /** Copied from the account when its password was checked: signing out everywhere voids the challenge. */
  readonly sessionsRevokedThrough: string | null;
  readonly expiresAt: Date;
}

/** Second step of a sign-in, as presented to the person. */
export interface SecondStep {
  readonly challenge: string;
  readonly factors: readonly FactorType[];
  readonly passkeyOptions: RequestOptions | undefined;
}

/** Creates the second step of a sign-in with a correct password. */
export const openChallenge = async (deps: FactorsDeps, account: AccountRecord): Promise<SecondStep> => {
  const challenge = randomBytes(BYTES).toString('base64url');
  await insertChallenge(deps.database, {
    digest: digestOf(challenge),
    userId: account.id,
    sessionsRevokedThrough: account.sessionsRevokedThrough,
    expiresAt: later(deps.clock(), CHALLENGE_MS),
  });
  return await describeStep(deps, challenge, account.id);
};

/** Returns the second step of an open challenge again, with new options. Throws `challenge_invalid`. */
export const reopenChallenge = async (deps: FactorsDeps, challenge: string): Promise<SecondStep> => {
  const { userId } = await requireChallenge(deps, challenge);
  return await describeStep(deps, challenge, userId);
};

const describeStep = async (deps: FactorsDeps, challenge: string, userId: string): Promise<SecondStep> => {
  const factors = await listFactorsOfUser(deps.database, userId);
  return {
    challenge,
    factors: [...new Set(factors.map(({ type }) => type))],
    passkeyOptions: await createAssertionOptions(deps, { purpose: 'second_factor', userId }),
  };
};

/** Returns the open challenge with this text. Throws `challenge_invalid`. */
export const requireChallenge = async (deps: FactorsDeps, challenge: string): Promise<ChallengeRecord> => {
  const found = await findChallenge(deps.database, digestOf(challenge));
  if (found === undefined || found.expiresAt <= deps.clock()) throw new AppError('challenge_invalid');
  return found;
};

const digestOf = (challenge: string): Buffer => hash('sha256', challenge, 'buffer');

/** Stores the second step of a sign-in. */
const insertChallenge = async (executor: Executor, challenge: ChallengeRecord): Promise<void> => {
  await executor('sign_in_challenges').insert(snakeKeys(challenge));
};

const findChallenge = async (executor: Executor, digest: Buffer): Promise<ChallengeRecord | undefined> => {
  const row = await executor<SnakeKeys<ChallengeRecord>>('sign_in_challenges').where({ digest }).first();
  return row === undefined ? undefined : camelKeys(row);
};

/** Uses up a challenge. Returns false if it was used before. */
export const deleteChallenge = async (trx: Transaction, digest: Buffer): Promise<boolean> =>
  (await trx('sign_in_challenges').where({ digest }).delete()) > 0;

/** Deletes at most `limit` challenges that expired before the given time. Returns the number. */
export const deleteChallengesExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> => {
  const old = executor('sign_in_challenges').where('expires_at', '<', before).limit(limit);
  return await executor('sign_in_challenges').whereIn('digest', old.select('digest')).delete();
};

/** Deletes every sign-in of a user that waits for its second step. */
export const deleteChallengesOfUser = async (trx: Transaction, userId: string): Promise<void> => {
  await trx('sign_in_challenges').where({ user_id: userId }).delete();
};
