import { camelKeys, runPrepared, type SnakeKeys } from '@svc/database';
import { type OauthClient, type OauthClientJson, oauthClientJson, toOauthClient } from '../apps/index.ts';
import { type BudgetJson, budgetJson, type GrantJson, type GrantRecord, grantJson } from '../connections/index.ts';
import type { Executor } from '../transact.ts';
import type { RefreshTokenDigests } from './codes-and-tokens.ts';

/** The client of a request, and the digests of the presented code, device code or refresh token. */
export interface TokenQuestion {
  readonly clientId: string | null;
  readonly code: Buffer | null;
  readonly deviceCode: Buffer | null;
  readonly refreshToken: RefreshTokenDigests | null;
}

/** An authorization code, used or not, with its grant. */
export interface PresentedCode {
  readonly grant: GrantRecord;
  readonly budget: BudgetJson | null;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  /** Thumbprint of the key that the code is bound to. */
  readonly dpopJkt: string | null;
  /** Judged by the clock of the database, which also sets the expiry. */
  readonly isExpired: boolean;
  readonly isConsumed: boolean;
}

/** A device code, with its grant once it is approved. */
export interface PresentedDeviceCode {
  readonly clientId: string;
  readonly grant: GrantRecord | null;
  readonly budget: BudgetJson | null;
  /** Judged by the clock of the database, which also sets the expiry. */
  readonly isExpired: boolean;
  readonly state: 'pending' | 'denied' | 'approved' | 'redeemed';
}

/** A refresh token, used or not, with its grant. */
export interface PresentedRefreshToken {
  readonly grant: GrantRecord;
  readonly budget: BudgetJson | null;
  /** Thumbprint of the key that the grant's refresh tokens are bound to. */
  readonly jkt: string | null;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** Judged by the clock of the database, which also sets the expiry. */
  readonly isExpired: boolean;
  /** Kind of use by the client of this request, decided by `refresh_use.sql`. */
  readonly use: 'first' | 'again' | 'reuse';
}

/** Answer to a question. Codes and refresh tokens of an ended grant count as unknown. */
export interface TokenState {
  readonly client: OauthClient | undefined;
  readonly code: PresentedCode | undefined;
  readonly deviceCode: PresentedDeviceCode | undefined;
  readonly refreshToken: PresentedRefreshToken | undefined;
}

/** JSON of a record: times are strings. The grant is null if it has ended, or was not made yet. */
type Json<T> = {
  readonly [K in keyof SnakeKeys<T>]: K extends 'grant'
    ? GrantJson | null
    : Date extends SnakeKeys<T>[K]
      ? Exclude<SnakeKeys<T>[K], Date> | string
      : SnakeKeys<T>[K];
};

interface Row {
  readonly client: OauthClientJson | null;
  readonly code: Json<PresentedCode> | null;
  readonly device_code: Json<PresentedDeviceCode> | null;
  readonly refresh_token: Json<PresentedRefreshToken> | null;
}

/**
 * Uses subqueries instead of joins: each stays one index lookup, regardless of the table size that the planner assumes. The arrays
 * are in subqueries too: if the planner knew how short they are, it would replan each execution, which costs more than
 * running it.
 */
const READ_TOKEN_STATES = {
  name: 'read_token_states',
  text: `SELECT ${oauthClientJson('asked.client_id')} AS client, (
    SELECT json_build_object(
      'grant', ${grantJson('c.grant_id')}, 'budget', ${budgetJson('c.grant_id')}, 'redirect_uri', c.redirect_uri, 'code_challenge', c.code_challenge,
      'dpop_jkt', c.dpop_jkt, 'is_expired', c.expires_at <= clock_timestamp(), 'is_consumed', c.consumed_at IS NOT NULL
    ) FROM authorization_codes c WHERE c.digest = asked.code
  ) AS code, (
    SELECT json_build_object(
      'client_id', d.client_id, 'grant', ${grantJson('d.grant_id')}, 'budget', ${budgetJson('d.grant_id')}, 'is_expired', d.expires_at <= clock_timestamp(),
      'state', CASE WHEN d.redeemed_at IS NOT NULL THEN 'redeemed' WHEN d.denied_at IS NOT NULL THEN 'denied' WHEN d.grant_id IS NOT NULL THEN 'approved' ELSE 'pending' END
    ) FROM device_codes d WHERE d.digest = asked.device_code
  ) AS device_code, (
    SELECT json_build_object(
      'grant', ${grantJson('t.grant_id')}, 'budget', ${budgetJson('t.grant_id')}, 'jkt', t.jkt,
      'issued_at', t.issued_at, 'expires_at', t.expires_at, 'is_expired', t.expires_at <= clock_timestamp(),
      'use', refresh_use(t.grant_id, asked.family, asked.refresh_token, asked.client_id)
    ) FROM refresh_tokens t WHERE t.grant_id = asked.grant_id AND t.family = asked.family
  ) AS refresh_token
  FROM unnest((SELECT $1::text[]), (SELECT $2::bytea[]), (SELECT $3::text[]), (SELECT $4::bytea[]), (SELECT $5::bytea[]), (SELECT $6::bytea[]))
    WITH ORDINALITY AS asked (client_id, code, grant_id, family, refresh_token, device_code, place)
  ORDER BY asked.place`,
};

/** Answers many questions in one round trip, in their order. */
export const readTokenStates = async (
  executor: Executor,
  questions: readonly TokenQuestion[],
): Promise<TokenState[]> => {
  const rows = await runPrepared<Row>(executor, READ_TOKEN_STATES, [
    questions.map(({ clientId }) => clientId),
    questions.map(({ code }) => code),
    questions.map(({ refreshToken }) => refreshToken?.grantId ?? null),
    questions.map(({ refreshToken }) => refreshToken?.family ?? null),
    questions.map(({ refreshToken }) => refreshToken?.digest ?? null),
    questions.map(({ deviceCode }) => deviceCode),
  ]);
  return rows.map((row) => ({
    client: row.client === null ? undefined : toOauthClient(row.client),
    code: row.code === null ? undefined : toCode(row.code),
    deviceCode: row.device_code === null ? undefined : toDeviceCode(row.device_code),
    refreshToken: row.refresh_token === null ? undefined : toRefreshToken(row.refresh_token),
  }));
};

const toCode = ({ grant, ...json }: Json<PresentedCode>): PresentedCode | undefined => {
  if (grant === null) return undefined;
  return { ...camelKeys(json), grant: camelKeys(grant) };
};

const toDeviceCode = ({ grant, ...json }: Json<PresentedDeviceCode>): PresentedDeviceCode => ({
  ...camelKeys(json),
  grant: grant === null ? null : camelKeys(grant),
});

const toRefreshToken = ({ grant, ...json }: Json<PresentedRefreshToken>): PresentedRefreshToken | undefined => {
  if (grant === null) return undefined;
  return {
    ...camelKeys(json),
    grant: camelKeys(grant),
    issuedAt: new Date(json.issued_at),
    expiresAt: new Date(json.expires_at),
  };
};
