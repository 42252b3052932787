import { randomBytes } from 'node:crypto';
import type { Account } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { accountFor } from './organization-state.ts';
import type { MockState } from './state.ts';

const SESSION_SECONDS = 43_200;

/** Returns a session as routes that begin or resume one answer it. */
export const sessionBody = (state: MockState, token: string, account: Account) => ({
  session_token: token,
  token_type: 'Bearer' as const,
  expires_in: SESSION_SECONDS,
  account: accountFor(state, account, state.acting.get(token)),
});

/** Begins a session that has just been proved, and acts for an organization if one is given. */
export const freshSession = (state: MockState, account: Account, organizationId?: string) => {
  const token = randomBytes(24).toString('base64url');
  state.sessions.set(token, account.email);
  if (organizationId !== undefined && organizationId !== account.svc_user_id) state.acting.set(token, organizationId);
  return sessionBody(state, token, account);
};

/** Finds an account and its password by user id. */
export const knownById = (state: MockState, userId: string) => {
  const known = [...state.accounts.values()].find(({ account }) => account.svc_user_id === userId);
  if (known === undefined) throw new AppError('invalid_token');
  return known;
};
