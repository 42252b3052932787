import type { Factor } from '@svc/contracts';

/** A second factor in use, of any kind. */
export interface FactorRecord {
  readonly id: string;
  readonly type: 'totp' | 'passkey';
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** Maximum factors per account, of all kinds. */
export const FACTORS_MAX = 10;

/** Maps a factor to the JSON that its owner sees. */
export const toFactorJson = ({ id, type, name, createdAt, lastUsedAt }: FactorRecord): Factor => ({
  id,
  type,
  name,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
});
