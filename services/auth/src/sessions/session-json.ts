import { toAccountJson } from '../accounts/index.ts';
import { SECOND_MS } from '../clock.ts';
import type { StartedSession } from './start-session.ts';

/** A session as its owner sees it, with the token for it. */
export const toSessionJson = ({ token, session, account }: StartedSession, now: Date) => ({
  session_token: token,
  token_type: 'Bearer',
  expires_in: Math.floor((session.expiresAt.getTime() - now.getTime()) / SECOND_MS),
  account: toAccountJson(account),
});
