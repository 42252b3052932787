import { runPrepared } from '@svc/database';
import { type OauthClient, type OauthClientJson, oauthClientJson, toOauthClient } from '../apps/index.ts';
import { type GrantJson, type GrantRecord, grantJson, toGrant } from '../connections/index.ts';
import type { Executor } from '../transact.ts';

/** What a request to the token endpoint names: who asks, and by what digest; null for what it does not name. */
export interface TokenQuestion {
  clientId: string | null;
  code: Buffer | null;
  refreshToken: Buffer | null;
}

/** An authorization code, used up or not, with the grant that it stands for. */
export interface PresentedCode {
  grant: GrantRecord;
  redirectUri: string;
  codeChallenge: string;
  /** Thumbprint of the key that it is bound to. */
  dpopThumbprint: string | null;
  issuedAt: Date;
  expiresAt: Date;
  consumedAt: Date | null;
}

/** A first use, a repetition within the grace, or reuse. */
export type RefreshUse = 'first' | 'again' | 'reuse';

/** A refresh token, used up or not, with its grant. */
export interface PresentedRefreshToken {
  grant: GrantRecord;
  generation: number;
  /** Thumbprint of the key that it is bound to. */
  keyThumbprint: string | null;
  issuedAt: Date;
  expiresAt: Date;
  /** When it was first used. */
  consumedAt: Date | null;
  /** Use that the client of this request makes of it, judged by `refresh_use.sql`. */
  use: RefreshUse;
}

/** What is known of all that. Codes and refresh tokens whose grant no longer holds count as unknown. */
export interface TokenState {
  client: OauthClient | undefined;
  code: PresentedCode | undefined;
  refreshToken: PresentedRefreshToken | undefined;
}

interface CodeJson {
  grant: GrantJson | null;
  redirect_uri: string;
  code_challenge: string;
  dpop_jkt: string | null;
  issued_at: string;
  expires_at: string;
  consumed_at: string | null;
}

interface RefreshTokenJson {
  grant: GrantJson | null;
  generation: number;
  jkt: string | null;
  issued_at: string;
  expires_at: string;
  consumed_at: string | null;
  use: RefreshUse;
}

interface Row {
  client: OauthClientJson | null;
  code: CodeJson | null;
  refresh_token: RefreshTokenJson | null;
}

/**
 * Subqueries, not joins: whatever the planner believes of the tables' sizes, each is one look into an index. The arrays stand
 * in subqueries as well: seeing how short they are, the planner would plan each execution anew, which costs more than running it.
 */
const READ_TOKEN_STATES = {
  name: 'read_token_states',
  text: `SELECT ${oauthClientJson('asked.client_id')} AS client, (
    SELECT json_build_object(
      'grant', ${grantJson('c.grant_id')}, 'redirect_uri', c.redirect_uri, 'code_challenge', c.code_challenge,
      'dpop_jkt', c.dpop_jkt, 'issued_at', c.issued_at, 'expires_at', c.expires_at, 'consumed_at', c.consumed_at
    ) FROM authorization_codes c WHERE c.digest = asked.code
  ) AS code, (
    SELECT json_build_object(
      'grant', ${grantJson('t.grant_id')}, 'generation', t.generation, 'jkt', t.jkt,
      'issued_at', t.issued_at, 'expires_at', t.expires_at, 'consumed_at', t.consumed_at,
      'use', refresh_use(t.digest, asked.client_id, $4)
    ) FROM refresh_tokens t WHERE t.digest = asked.refresh_token
  ) AS refresh_token
  FROM unnest((SELECT $1::text[]), (SELECT $2::bytea[]), (SELECT $3::bytea[])) WITH ORDINALITY AS asked (client_id, code, refresh_token, place)
  ORDER BY asked.place`,
};

/** Reads all that requests name, in one round trip, in their order. */
export const readTokenStates = async (
  executor: Executor,
  questions: readonly TokenQuestion[],
  now: Date,
): Promise<TokenState[]> => {
  const rows = await runPrepared<Row>(executor, READ_TOKEN_STATES, [
    questions.map(({ clientId }) => clientId),
    questions.map(({ code }) => code),
    questions.map(({ refreshToken }) => refreshToken),
    now,
  ]);
  return rows.map((row) => ({
    client: row.client === null ? undefined : toOauthClient(row.client),
    code: row.code === null ? undefined : toCode(row.code),
    refreshToken: row.refresh_token === null ? undefined : toRefreshToken(row.refresh_token),
  }));
};

const toCode = ({ grant, ...json }: CodeJson): PresentedCode | undefined =>
  grant === null
    ? undefined
    : {
        grant: toGrant(grant),
        redirectUri: json.redirect_uri,
        codeChallenge: json.code_challenge,
        dpopThumbprint: json.dpop_jkt,
        ...toTimes(json),
      };

const toRefreshToken = ({ grant, ...json }: RefreshTokenJson): PresentedRefreshToken | undefined =>
  grant === null
    ? undefined
    : {
        grant: toGrant(grant),
        generation: json.generation,
        keyThumbprint: json.jkt,
        use: json.use,
        ...toTimes(json),
      };

const toTimes = (json: { issued_at: string; expires_at: string; consumed_at: string | null }) => ({
  issuedAt: new Date(json.issued_at),
  expiresAt: new Date(json.expires_at),
  consumedAt: json.consumed_at === null ? null : new Date(json.consumed_at),
});
