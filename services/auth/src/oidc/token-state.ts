import { runPrepared } from '@svc/database';
import { type OauthClient, type OauthClientJson, oauthClientJson, toOauthClient } from '../apps/index.ts';
import { type BudgetJson, budgetJson, type GrantJson, type GrantRecord, grantJson } from '../connections/index.ts';
import { camelKeys, type SnakeKeys } from '../key-case.ts';
import type { Executor } from '../transact.ts';

/** The client of a request, and the digest of the presented code or refresh token. */
export interface TokenQuestion {
  readonly clientId: string | null;
  readonly code: Buffer | null;
  readonly refreshToken: Buffer | null;
}

/** An authorization code, used or not, with its grant. */
export interface PresentedCode {
  readonly grant: GrantRecord;
  readonly budget: BudgetJson | null;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  /** Thumbprint of the key that the code is bound to. */
  readonly dpopJkt: string | null;
  readonly expiresAt: Date;
  readonly consumedAt: Date | null;
}

/** A refresh token, used or not, with its grant. */
export interface PresentedRefreshToken {
  readonly grant: GrantRecord;
  readonly budget: BudgetJson | null;
  readonly generation: number;
  /** Thumbprint of the key that the token is bound to. */
  readonly jkt: string | null;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** Kind of use by the client of this request, decided by `refresh_use.sql`. */
  readonly use: 'first' | 'again' | 'reuse';
}

/** Answer to a question. Codes and refresh tokens of an ended grant count as unknown. */
export interface TokenState {
  readonly client: OauthClient | undefined;
  readonly code: PresentedCode | undefined;
  readonly refreshToken: PresentedRefreshToken | undefined;
}

/** JSON of a record: times are strings, and the grant is null if it has ended. */
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
      'dpop_jkt', c.dpop_jkt, 'expires_at', c.expires_at, 'consumed_at', c.consumed_at
    ) FROM authorization_codes c WHERE c.digest = asked.code
  ) AS code, (
    SELECT json_build_object(
      'grant', ${grantJson('t.grant_id')}, 'budget', ${budgetJson('t.grant_id')}, 'generation', t.generation, 'jkt', t.jkt,
      'issued_at', t.issued_at, 'expires_at', t.expires_at,
      'use', refresh_use(t.digest, asked.client_id)
    ) FROM refresh_tokens t WHERE t.digest = asked.refresh_token
  ) AS refresh_token
  FROM unnest((SELECT $1::text[]), (SELECT $2::bytea[]), (SELECT $3::bytea[])) WITH ORDINALITY AS asked (client_id, code, refresh_token, place)
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
    questions.map(({ refreshToken }) => refreshToken),
  ]);
  return rows.map((row) => ({
    client: row.client === null ? undefined : toOauthClient(row.client),
    code: row.code === null ? undefined : toCode(row.code),
    refreshToken: row.refresh_token === null ? undefined : toRefreshToken(row.refresh_token),
  }));
};

const toCode = ({ grant, ...json }: Json<PresentedCode>): PresentedCode | undefined => {
  if (grant === null) return undefined;
  return {
    ...camelKeys(json),
    grant: camelKeys(grant),
    expiresAt: new Date(json.expires_at),
    consumedAt: json.consumed_at === null ? null : new Date(json.consumed_at),
  };
};

const toRefreshToken = ({ grant, ...json }: Json<PresentedRefreshToken>): PresentedRefreshToken | undefined => {
  if (grant === null) return undefined;
  return {
    ...camelKeys(json),
    grant: camelKeys(grant),
    issuedAt: new Date(json.issued_at),
    expiresAt: new Date(json.expires_at),
  };
};
