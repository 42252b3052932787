import { AppError } from '@svc/service-kit';
import { type BeginSessionDeps, type SignInOrigin, type StartedSession, startSession } from '../sessions/index.ts';
import { type FindOrOpenAccountDeps, findOrOpenAccount } from './find-or-open-account.ts';
import type { SsoAttempt } from './sso-cookie.ts';
import { UpstreamFailed, type UpstreamProvider } from './upstream-provider.ts';

export interface FinishSsoDeps extends FindOrOpenAccountDeps, BeginSessionDeps {
  readonly provider: UpstreamProvider;
}

/**
 * Signs in the person authenticated by the provider. Returns undefined if they cancelled there. Throws `sso_failed`.
 */
export const finishSso = async (
  deps: FinishSsoDeps,
  { attempt, url, origin }: { attempt: SsoAttempt; url: URL; origin: SignInOrigin },
): Promise<StartedSession | undefined> => {
  try {
    const identity = await deps.provider.finish(url, attempt);
    const account = await findOrOpenAccount(deps, identity, origin.source);
    if (account === undefined) throw ssoFailed('The OpenID provider has not verified this address.');
    return await startSession(deps, account, origin);
  } catch (error) {
    if (!(error instanceof UpstreamFailed)) throw error;
    if (error.isRefusal) return undefined;
    throw ssoFailed(undefined, error);
  }
};

/** Creates the only error of single sign-on. Its cause is only logged. */
export const ssoFailed = (message?: string, cause?: unknown): AppError =>
  new AppError('sso_failed', message, { cause });
