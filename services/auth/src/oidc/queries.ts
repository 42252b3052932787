import { grantUse, TOUCH_GRANT } from '../connections/index.ts';
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

/** A refresh token as stored. */
export interface RefreshTokenRecord {
  grantId: string;
  generation: number;
  /** Thumbprint of the key that it is bound to. */
  keyThumbprint: string | null;
  issuedAt: Date;
  expiresAt: Date;
  /** When it was first used. */
  consumedAt: Date | null;
  /** Whether a token of a later generation of its grant was used, so that it is no longer the immediate predecessor. */
  isOutdated: boolean;
}

interface RefreshTokenRow {
  digest: Buffer;
  grant_id: string;
  generation: number;
  jkt: string | null;
  issued_at: Date;
  expires_at: Date;
  consumed_at: Date | null;
  is_outdated: boolean;
}

/** The refresh token of a digest, used up or not. */
export const findRefreshToken = async (executor: Executor, digest: Buffer): Promise<RefreshTokenRecord | undefined> => {
  const result: { rows: RefreshTokenRow[] } = await executor.raw(
    `SELECT t.*, EXISTS (
       SELECT FROM refresh_tokens later
       WHERE later.grant_id = t.grant_id AND later.generation > t.generation AND later.consumed_at IS NOT NULL
     ) AS is_outdated
     FROM refresh_tokens t WHERE t.digest = ?`,
    [digest],
  );
  const [row] = result.rows;
  if (row === undefined) return undefined;
  return {
    grantId: row.grant_id,
    generation: row.generation,
    keyThumbprint: row.jkt,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    consumedAt: row.consumed_at,
    isOutdated: row.is_outdated,
  };
};

/** Stores the digest of a new refresh token. */
export const insertRefreshToken = async (trx: Transaction, token: NewRefreshToken): Promise<void> => {
  await trx('refresh_tokens').insert({
    digest: token.digest,
    grant_id: token.grantId,
    generation: token.generation,
    jkt: token.keyThumbprint,
    issued_at: token.issuedAt,
    expires_at: token.expiresAt,
  });
};

const CONSUMED_TABLES = { authorization_code: 'authorization_codes', refresh_token: 'refresh_tokens' } as const;

/**
 * Uses up a code or token that nobody has used before, under a grant that holds, and stores the refresh token that it is
 * exchanged for: all of it in one round trip, or nothing and false. The grant is locked first, as everywhere.
 */
export const exchangeUnused = async (
  executor: Executor,
  { consumption, refreshToken, now }: { consumption: Consumption; refreshToken: NewRefreshToken; now: Date },
): Promise<boolean> => {
  const result: { rowCount: number } = await executor.raw(
    `WITH touched AS (${TOUCH_GRANT}),
     used AS (
       UPDATE ${CONSUMED_TABLES[consumption.kind]} SET consumed_at = :usedAt
       WHERE digest = :usedDigest AND consumed_at IS NULL AND grant_id = (SELECT id FROM touched) RETURNING grant_id
     )
     INSERT INTO refresh_tokens (digest, grant_id, generation, jkt, issued_at, expires_at)
     SELECT :digest, grant_id, :generation, :keyThumbprint, :issuedAt, :expiresAt FROM used`,
    { ...grantUse(consumption.grantId, now), usedDigest: consumption.digest, ...refreshToken },
  );
  return result.rowCount > 0;
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
