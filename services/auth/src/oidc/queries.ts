import { runPrepared } from '@svc/database';
import { GRANT_UNUSED_MS } from '../connections/index.ts';
import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import { REFRESH_TOKEN_SECONDS } from './lifetimes.ts';

/** An authorization code, as stored. Its grant holds the permissions. */
export interface CodeRecord {
  readonly grantId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  /** Thumbprint of the key that the code is bound to. */
  readonly dpopJkt: string | null;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly consumedAt: Date | null;
}

/** Stores the digest of a new code. Returns false if it was stored before. */
export const insertCode = async (
  trx: Transaction,
  code: Omit<CodeRecord, 'consumedAt'> & { digest: Buffer },
): Promise<boolean> => {
  const rows = await trx('authorization_codes')
    .insert(snakeKeys(code))
    .onConflict('digest')
    .ignore()
    .returning('grant_id');
  return rows.length > 0;
};

/** Finds a code by its digest, used or not. */
export const findCode = async (executor: Executor, digest: Buffer): Promise<CodeRecord | undefined> => {
  const row = await executor('authorization_codes')
    .where('digest', digest)
    .first<SnakeKeys<CodeRecord> | undefined>('*');
  return row === undefined ? undefined : camelKeys(row);
};

/** An authorization code or refresh token that a client presents. */
export interface Presented {
  readonly kind: 'authorization_code' | 'refresh_token';
  readonly digest: Buffer;
  readonly grantId: string;
}

/** A refresh token to store under the same grant. */
export interface NewRefreshToken {
  readonly digest: Buffer;
  readonly generation: number;
  /** Thumbprint of the key that the token is bound to (RFC 9449 section 5). */
  readonly jkt: string | null;
}

export interface Exchange {
  readonly presented: Presented;
  readonly refreshToken: NewRefreshToken;
}

/** Outcome of an exchange. `reused`: the code or token, or a sibling of the token, was used before. */
export type ExchangeOutcome = 'issued' | 'grant_ended' | 'reused';

const EXCHANGE_TOKENS = {
  name: 'exchange_tokens',
  text: 'SELECT exchange_tokens($1, $2, $3, $4, $5, $6, $7, $8) AS outcomes',
};

/** Performs many exchanges in one round trip and one commit. Returns the outcome of each. */
export const exchangeTokens = async (
  executor: Executor,
  exchanges: readonly Exchange[],
): Promise<ExchangeOutcome[]> => {
  const presented = exchanges.map((exchange) => exchange.presented);
  const tokens = exchanges.map(({ refreshToken }) => refreshToken);
  const digestsOf = (wanted: Presented['kind']) =>
    presented.map(({ kind, digest }) => (kind === wanted ? digest : null));
  const [row] = await runPrepared<{ outcomes: ExchangeOutcome[] }>(executor, EXCHANGE_TOKENS, [
    presented.map(({ grantId }) => grantId),
    digestsOf('authorization_code'),
    digestsOf('refresh_token'),
    tokens.map(({ digest }) => digest),
    tokens.map(({ generation }) => generation),
    tokens.map(({ jkt }) => jkt),
    `${REFRESH_TOKEN_SECONDS} seconds`,
    `${GRANT_UNUSED_MS} milliseconds`,
  ]);
  return row?.outcomes ?? [];
};

/** Deletes at most `limit` codes that expired unused before the given time. Returns the number. */
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

/** Deletes at most `limit` refresh tokens that expired before the given time. Returns the number. */
export const deleteRefreshTokensExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> =>
  await executor('refresh_tokens')
    .whereIn('digest', executor('refresh_tokens').where('expires_at', '<', before).limit(limit).select('digest'))
    .delete();
