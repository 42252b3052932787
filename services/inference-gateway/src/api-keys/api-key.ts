import type { apiKeySchema } from '@svc/contracts';
import { createKeyText } from '@svc/service-kit';
import type { z } from 'zod';

/** Text of API keys. */
export const apiKeyText = createKeyText('svc_sk_');

/** An API key without its secret. Only a hash of the secret is stored. */
export interface ApiKey {
  readonly id: string;
  readonly userId: string;
  /** Person who created the key for the account. */
  readonly createdBy: string;
  /** True if the creator left the organization and an admin has not kept the key. */
  readonly creatorLeft: boolean;
  readonly name: string;
  readonly prefix: string;
  readonly expiresAt: Date | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly monthlyLimitMicros: number | null;
  /** Allow-list of models; null allows all. */
  readonly models: readonly string[] | null;
  readonly active: boolean;
  readonly createdAt: Date;
  /** Time of the creation or last rotation. */
  readonly secretCreatedAt: Date;
  /** Person who created the key or rotated it last. */
  readonly secretCreatedBy: string;
  readonly lastUsedAt: Date | null;
  /** Console session that created the key; null for keys created before sessions were recorded. */
  readonly sessionId: string | null;
  /** Expiry of the previous secret; null if there is none. */
  readonly previousExpiresAt: Date | null;
  /** Incremented by each change. */
  readonly version: number;
}

/** Settings that the owner of a key may change. */
export type ApiKeySettings = Pick<
  ApiKey,
  | 'name'
  | 'expiresAt'
  | 'requestsPerMinute'
  | 'tokensPerMinute'
  | 'monthlyLimitMicros'
  | 'models'
  | 'active'
  | 'creatorLeft'
>;

/** Maps a key to its representation in the API. */
export const showApiKey = (
  key: ApiKey,
  {
    spentMicros,
    creatorName,
    nowMs,
  }: { readonly spentMicros: number | null; readonly creatorName: string | null; readonly nowMs: number },
): z.output<typeof apiKeySchema> => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  expires_at: key.expiresAt?.toISOString() ?? null,
  requests_per_minute: key.requestsPerMinute,
  tokens_per_minute: key.tokensPerMinute,
  monthly_limit_micros: key.monthlyLimitMicros,
  models: key.models === null ? null : [...key.models],
  active: key.active,
  spent_this_month_micros: spentMicros,
  created_at: key.createdAt.toISOString(),
  created_by: { svc_user_id: key.createdBy, name: creatorName },
  creator_left: key.creatorLeft,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  previous_expires_at: isOverlapping(key, nowMs) ? key.previousExpiresAt.toISOString() : null,
});

const isOverlapping = (key: ApiKey, nowMs: number): key is ApiKey & { readonly previousExpiresAt: Date } =>
  key.previousExpiresAt !== null && key.previousExpiresAt.getTime() > nowMs;
