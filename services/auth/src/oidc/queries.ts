import type { Executor, Transaction } from '../transact.ts';
import type { NewRefreshToken } from './token-work.ts';

/** An authorization code as stored: what it allows stands in its grant. */
export interface CodeRecord {
  grantId: string;
  redirectUri: string;
  codeChallenge: string;
  issuedAt: Date;
  expiresAt: Date;
  consumedAt: Date | null;
}

interface CodeRow {
  digest: Buffer;
  grant_id: string;
  redirect_uri: string;
  code_challenge: string;
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
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    consumedAt: row.consumed_at,
  };
};

/** Uses up a code; false where somebody else has. */
export const consumeCode = async (trx: Transaction, digest: Buffer, now: Date): Promise<boolean> =>
  (await trx('authorization_codes').where('digest', digest).whereNull('consumed_at').update({ consumed_at: now })) > 0;

/** A refresh token as stored. */
export interface RefreshTokenRecord {
  grantId: string;
  generation: number;
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
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    consumedAt: row.consumed_at,
    isOutdated: row.is_outdated,
  };
};

/** Notes the first use of a refresh token. The caller holds its grant. */
export const consumeRefreshToken = async (trx: Transaction, digest: Buffer, now: Date): Promise<void> => {
  await trx('refresh_tokens').where('digest', digest).whereNull('consumed_at').update({ consumed_at: now });
};

/** Stores the digest of a new refresh token. */
export const insertRefreshToken = async (trx: Transaction, token: NewRefreshToken): Promise<void> => {
  await trx('refresh_tokens').insert({
    digest: token.digest,
    grant_id: token.grantId,
    generation: token.generation,
    issued_at: token.issuedAt,
    expires_at: token.expiresAt,
  });
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
