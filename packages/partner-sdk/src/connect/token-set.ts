import { z } from 'zod';
import { tokenResponseSchema } from '../generated/contract.ts';

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

const completeResponseSchema = tokenResponseSchema.extend({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  expires_in: z.int().min(1),
});

/** Reads the answer to a token request sent at `askedAtMs`. Throws a `ZodError` if the answer is incomplete. */
export const toTokenSet = (answer: unknown, askedAtMs: number): TokenSet => {
  const tokens = completeResponseSchema.parse(answer);
  return {
    svcUserId: tokens.svc_user_id,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
    expiresAtMs: askedAtMs + tokens.expires_in * 1000,
  };
};
