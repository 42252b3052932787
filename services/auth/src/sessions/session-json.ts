import { toAccountJson } from '../accounts/index.ts';
import { toOrganizationJson } from '../memberships/index.ts';
import { SECOND_MS } from '../time.ts';
import type { RenewedSession } from './renew-session.ts';

/** Maps a session to the JSON that its owner sees, with its tokens. */
export const toSessionJson = (
  { token, tokenExpiresAt, account, acting, deviceToken }: RenewedSession & { deviceToken?: string },
  now: Date,
) => ({
  session_token: token,
  token_type: 'Bearer',
  expires_in: secondsLeft(tokenExpiresAt, now),
  account: toAccountJson(account, toOrganizationJson(acting)),
  ...(deviceToken === undefined ? {} : { device_token: deviceToken }),
});

/** Returns the whole seconds until the given time. */
export const secondsLeft = (until: Date, now: Date): number =>
  Math.floor((until.getTime() - now.getTime()) / SECOND_MS);
