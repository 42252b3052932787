import type { apiKeySchema } from '@svc/contracts';
import type { z } from 'zod';

/** An API key as it is kept: the key itself is nowhere. */
export interface ApiKey {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly prefix: string;
  readonly expiresAt: Date | null;
  readonly requestsPerMinute: number | null;
  readonly monthlyLimitMicros: number | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** Console session that created it; null for keys older than this record. */
  readonly sessionId: string | null;
}

/** The key as its owner sees it. */
export const showApiKey = (key: ApiKey): z.output<typeof apiKeySchema> => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  expires_at: key.expiresAt?.toISOString() ?? null,
  requests_per_minute: key.requestsPerMinute,
  monthly_limit_micros: key.monthlyLimitMicros,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
});
