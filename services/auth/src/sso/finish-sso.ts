import { AppError } from '@svc/service-kit';
import { type BeginSessionDeps, startSession } from '../sessions/index.ts';
import { type FindOrOpenAccountDeps, findOrOpenAccount } from './find-or-open-account.ts';
import type { SsoAttempt } from './sso-cookie.ts';
import { UpstreamFailed, type UpstreamProvider } from './upstream-provider.ts';

/** What finishing a sign-in needs. */
export interface FinishSsoDeps extends FindOrOpenAccountDeps, BeginSessionDeps {
  provider: UpstreamProvider;
}

/**
 * Signs in whom the provider vouches for, and answers the session token; undefined for somebody who gave up there. Throws
 * `sso_failed`.
 */
export const finishSso = async (
  deps: FinishSsoDeps,
  { attempt, url, source }: { attempt: SsoAttempt; url: URL; source: string },
): Promise<string | undefined> => {
  try {
    const identity = await deps.provider.finish(url, attempt);
    const account = await findOrOpenAccount(deps, identity, source);
    if (account === undefined) throw ssoFailed('The OpenID provider has not verified this address.');
    return (await startSession(deps, account)).token;
  } catch (error) {
    if (!(error instanceof UpstreamFailed)) throw error;
    if (error.isRefusal) return undefined;
    throw ssoFailed(undefined, error);
  }
};

/** The one refusal of single sign-on; its cause is logged, not told. */
export const ssoFailed = (message?: string, cause?: unknown): AppError =>
  new AppError('sso_failed', message, { cause });
