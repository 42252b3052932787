import { AppError } from '@svc/service-kit';
import { type AccountRecord, findAccountById } from '../accounts/index.ts';
import { type FactorClaim, findFactorProof } from '../factors/index.ts';
import type { Transaction } from '../transact.ts';
import { deleteChallenge, requireChallenge } from './queries.ts';
import type { SignInOrigin } from './sign-in-origin.ts';
import { attemptSubject, type StartedSession, type StartSessionDeps, startSessionIn } from './start-session.ts';

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
