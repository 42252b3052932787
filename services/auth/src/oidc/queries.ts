import { runPrepared } from '@svc/database';
import { grantExpiry } from '../connections/index.ts';
import type { Executor, Transaction } from '../transact.ts';
import type { Consumption, NewRefreshToken } from './token-work.ts';

/** An authorization code as stored: what it allows stands in its grant. */
export interface CodeRecord {
  grantId: string;
  redirectUri: string;
  codeChallenge: string;
  /** Thumbprint of the key that it is bound to. */
  dpopThumbprint: string | null;
  issuedAt: Date;
  expiresAt: Date;
  consumedAt: Date | null;
}

interface CodeRow {
  digest: Buffer;
  grant_id: string;
  redirect_uri: string;
  code_challenge: string;
  dpop_jkt: string | null;
  issued_at: Date;
  expires_at: Date;
  consumed_at: Date | null;
}

/** Stores the digest of a new code; false where it is there already. */
export const insertCode = async (
  trx: Transaction,
  code: Omit<CodeRecord, 'consumedAt'> & { digest: Buffer },
): Promise<boolean> => {
  const rows = await trx('authorization_codes')
    .insert({
      digest: code.digest,
      grant_id: code.grantId,
      redirect_uri: code.redirectUri,
      code_challenge: code.codeChallenge,
      dpop_jkt: code.dpopThumbprint,
      issued_at: code.issuedAt,
      expires_at: code.expiresAt,
    })
    .onConflict('digest')
    .ignore()
    .returning('grant_id');
  return rows.length > 0;
};

/** The code of a digest, used up or not. */
export const findCode = async (executor: Executor, digest: Buffer): Promise<CodeRecord | undefined> => {
  const row = await executor<CodeRow>('authorization_codes').where('digest', digest).first();
  if (row === undefined) return undefined;
  return {
    grantId: row.grant_id,
    redirectUri: row.redirect_uri,
    codeChallenge: row.code_challenge,
    dpopThumbprint: row.dpop_jkt,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    consumedAt: row.consumed_at,
  };
};

/** A code or token, and the refresh token that it is to be exchanged for. */
export interface Exchange {
  consumption: Consumption;
  refreshToken: NewRefreshToken;
}

/** Outcome of an exchange. `reused`: the code or token has been used before, or a sibling of the token has. */
export type ExchangeOutcome = 'issued' | 'grant_ended' | 'reused';

const EXCHANGE_TOKENS = {
  name: 'exchange_tokens',
  text: 'SELECT exchange_tokens($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS outcomes',
};

/** Makes many exchanges in one round trip and one commit; returns the outcome of each. */
export const exchangeTokens = async (
  executor: Executor,
  exchanges: readonly Exchange[],
  now: Date,
): Promise<ExchangeOutcome[]> => {
  const consumptions = exchanges.map(({ consumption }) => consumption);
  const tokens = exchanges.map(({ refreshToken }) => refreshToken);
  const digestsOf = (wanted: Consumption['kind']) =>
    consumptions.map(({ kind, digest }) => (kind === wanted ? digest : null));
  const [row] = await runPrepared<{ outcomes: ExchangeOutcome[] }>(executor, EXCHANGE_TOKENS, [
    now,
    grantExpiry(now),
    consumptions.map(({ grantId }) => grantId),
    digestsOf('authorization_code'),
    digestsOf('refresh_token'),
    tokens.map(({ digest }) => digest),
    tokens.map(({ generation }) => generation),
    tokens.map(({ keyThumbprint }) => keyThumbprint),
    tokens.map(({ issuedAt }) => issuedAt),
    tokens.map(({ expiresAt }) => expiresAt),
  ]);
  return row?.outcomes ?? [];
};

/** Removes at most `limit` codes that expired unused before an instant, and answers how many. */
export const deleteUnusedCodesBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('authorization_codes')
    .whereIn(
      'digest',
      executor('authorization_codes')
        .whereNull('consumed_at')
        .where('expires_at', '<', before)
        .limit(limit)
        .select('digest'),
    )
    .delete();

/** Removes at most `limit` refresh tokens that expired before an instant, and answers how many. */
export const deleteRefreshTokensExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> =>
  await executor('refresh_tokens')
    .whereIn('digest', executor('refresh_tokens').where('expires_at', '<', before).limit(limit).select('digest'))
    .delete();
