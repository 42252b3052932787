import { tokenResponseShape } from '../generated/contract.ts';
import { ShapeError } from '../shape.ts';

/** Tokens of one connected user. Plain JSON, so that any store can hold it. Encrypt it at rest. */
export interface TokenSet {
  /** The user's id at the service. Only the token response carries it. */
  readonly svcUserId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Granted scopes, separated by spaces. */
  readonly scope: string;
  /** Expiry of the access token, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** Reads the answer to a token request sent at `askedAtMs`. Throws a `ShapeError` if the answer is incomplete. */
export const toTokenSet = (answer: unknown, askedAtMs: number): TokenSet => {
  const tokens = tokenResponseShape(answer, 'token response');
  const isComplete = tokens.access_token !== '' && tokens.refresh_token !== '' && tokens.expires_in >= 1;
  if (!isComplete || tokens.token_type.toLowerCase() !== 'bearer') {
    throw new ShapeError('token response: expected bearer tokens with a lifetime');
  }
  return {
    svcUserId: tokens.svc_user_id,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
    expiresAtMs: askedAtMs + tokens.expires_in * 1000,
  };
};
