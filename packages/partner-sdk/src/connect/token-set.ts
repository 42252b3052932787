import { z } from 'zod';

/** Tokens of one connected user. Plain JSON, so that a store can keep it as it is; keep it encrypted. */
export interface TokenSet {
  /** The service's identity of the user, from the token response and from nowhere else. */
  readonly svcUserId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Granted scopes, separated by spaces. */
  readonly scope: string;
  /** When the access token expires, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** RFC 6749 section 5.1 and `svc_user_id`; `expires_in` is in seconds. */
export const tokenResponseSchema = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  token_type: z.string(),
  expires_in: z.int().min(1),
  scope: z.string(),
  svc_user_id: z.string().min(1),
});

/** The tokens of an answer to a request that was sent at `askedAtMs`. Throws a `ZodError` on an incomplete answer. */
export const toTokenSet = (answer: unknown, askedAtMs: number): TokenSet => {
  const tokens = tokenResponseSchema.parse(answer);
  return {
    svcUserId: tokens.svc_user_id,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
    expiresAtMs: askedAtMs + tokens.expires_in * 1000,
  };
};
