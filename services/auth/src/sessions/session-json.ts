import { toAccountJson } from '../accounts/index.ts';
import { SECOND_MS } from '../time.ts';
import type { RenewedSession } from './renew-session.ts';

/** Returns a session as its owner sees it, with its tokens. */
export const toSessionJson = (
  { token, tokenExpiresAt, account, deviceToken }: RenewedSession & { deviceToken?: string },
  now: Date,
) => ({
  session_token: token,
  token_type: 'Bearer',
  expires_in: secondsLeft(tokenExpiresAt, now),
  account: toAccountJson(account),
  ...(deviceToken === undefined ? {} : { device_token: deviceToken }),
});

/** Returns the whole seconds until an instant. */
export const secondsLeft = (until: Date, now: Date): number =>
  Math.floor((until.getTime() - now.getTime()) / SECOND_MS);
