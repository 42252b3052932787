import type { PasskeyAssertion } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { findAccountById } from '../accounts/index.ts';
import { findAssertionProof } from '../factors/index.ts';
import type { SignInOrigin } from './sign-in-origin.ts';
import { type StartedSession, type StartSessionDeps, startSessionIn } from './start-session.ts';

/**
 * Signs in the owner of a passkey, without address and password. Uses up the assertion in the same transaction as the
 * session starts. Throws `invalid_passkey`, and `too_many_attempts` if the source keeps failing.
 */
export const signInWithPasskey = async (
  deps: StartSessionDeps,
  assertion: PasskeyAssertion,
  origin: SignInOrigin,
): Promise<StartedSession> => {
  const attempt = await deps.throttle.begin({ source: origin.source });
  const proof = await findAssertionProof(deps, assertion, { purpose: 'sign_in', userId: undefined });
  const account = proof === undefined ? undefined : await findAccountById(deps.database, proof.userId);
  if (proof === undefined || account === undefined) {
    await attempt.fail();
    throw new AppError('invalid_passkey');
  }
  await attempt.succeed();
  return await deps.transact(async (trx) => {
    if (!(await proof.use(trx))) throw new AppError('invalid_passkey');
    return await startSessionIn(deps, trx, { account, origin });
  });
};
