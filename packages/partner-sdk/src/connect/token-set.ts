import { tokenResponseShape } from '../generated/contract.ts';
import { type Infer, ShapeError } from '../shape.ts';

/** The limit of this app's use of the user's plan, as the user has granted it. */
export interface GrantedBudget {
  /** In millionths of the currency. */
  readonly limitMicros: number;
  readonly currency: string;
  /** `week` and `month` are windows of the subscription; `total` counts until the user removes the limit. */
  readonly period: 'week' | 'month' | 'total';
  /** Time after which the app can use nothing until the user renews the limit, in milliseconds since the epoch. */
  readonly expiresAtMs?: number;
}

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
  /** The user's limit as of this token response; absent without one. The user may change it at any time. */
  readonly budget?: GrantedBudget;
}

/** Reads the answer to a token request sent at `askedAtMs`. Throws a `ShapeError` if the answer is incomplete. */
export const toTokenSet = (answer: unknown, askedAtMs: number): TokenSet => {
  const tokens = tokenResponseShape(answer, 'token response');
  const isComplete = tokens.access_token !== '' && tokens.refresh_token !== '' && tokens.expires_in >= 1;
  // RFC 9449 section 5: `DPoP` for tokens that are bound to a key.
  if (!isComplete || !['bearer', 'dpop'].includes(tokens.token_type.toLowerCase())) {
    throw new ShapeError('token response: expected bearer or DPoP tokens with a lifetime');
  }
  return {
    svcUserId: tokens.svc_user_id,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
    expiresAtMs: askedAtMs + tokens.expires_in * 1000,
    ...toBudget(tokens.authorization_details?.[0]),
  };
};

type Detail = NonNullable<Infer<typeof tokenResponseShape>['authorization_details']>[number];

const toBudget = (detail: Detail | undefined): { budget?: GrantedBudget } => {
  if (detail === undefined) return {};
  const { limit_micros: limitMicros, currency, period, expires_at: expiresAt } = detail;
  const expiry = expiresAt === undefined ? {} : { expiresAtMs: Date.parse(expiresAt) };
  return { budget: { limitMicros, currency, period, ...expiry } };
};
