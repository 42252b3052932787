import { toAccountJson } from '../accounts/index.ts';
import { SECOND_MS } from '../time.ts';
import type { StartedSession } from './start-session.ts';

/** Returns a session as its owner sees it, with its tokens. */
export const toSessionJson = (
  { token, session, account, deviceToken }: Omit<StartedSession, 'deviceToken'> & { deviceToken?: string },
  now: Date,
) => ({
  session_token: token,
  token_type: 'Bearer',
  expires_in: secondsLeft(session, now),
  account: toAccountJson(account),
  ...(deviceToken === undefined ? {} : { device_token: deviceToken }),
});

/** Returns the seconds until a session expires. */
export const secondsLeft = ({ expiresAt }: { expiresAt: Date }, now: Date): number =>
  Math.floor((expiresAt.getTime() - now.getTime()) / SECOND_MS);
