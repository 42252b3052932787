import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';

/** A new API key. */
export const createKeyRequestSchema = z
  .strictObject({
    name: z.string().trim().min(1).max(80),
    expires_at: timestampInputSchema.nullish(),
    requests_per_minute: z.int().min(1).max(100_000).nullish(),
    monthly_limit_micros: nonNegativeMicrosSchema.nullish(),
  })
  .meta({ id: 'CreateKeyRequest' });

/** An API key as its owner sees it, without the key itself. */
export const apiKeySchema = z
  .object({
    id: idSchema('key'),
    name: z.string(),
    prefix: z.string().meta({ description: 'The first characters of the key, for recognition.' }),
    expires_at: timestampSchema.nullable(),
    requests_per_minute: z.int().nullable(),
    monthly_limit_micros: microsSchema.nullable(),
    created_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
  })
  .meta({ id: 'ApiKey' });

/** The new key, shown only once. */
export const apiKeyCreatedSchema = apiKeySchema.extend({ key: z.string() }).meta({ id: 'ApiKeyCreated' });

/** `{key_id}` in a path. */
export const keyIdParams = z.object({ key_id: pathIdSchema });
