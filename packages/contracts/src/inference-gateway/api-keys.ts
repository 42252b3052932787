import { z } from 'zod';
import { namedPersonSchema } from '../auth/organizations.ts';
import { keyWalletSchema } from '../billing/wallets.ts';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { nameSchema } from '../core/name.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';
import { MODEL_NAME_CHARACTERS_MAX } from './gateway.ts';

/** Models in an allow-list. */
const MODELS_MAX = 100;

const keyNameSchema = nameSchema(80);

const settings = {
  expires_at: timestampInputSchema.nullish(),
  requests_per_minute: z.int().min(1).max(100_000).nullish(),
  tokens_per_minute: z.int().min(1).max(1_000_000_000).nullish(),
  monthly_limit_micros: nonNegativeMicrosSchema.nullish(),
  models: z
    .array(z.string().min(1).max(MODEL_NAME_CHARACTERS_MAX))
    .max(MODELS_MAX)
    .nullish()
    .meta({ description: 'The only models that the key may use; null for all.' }),
  active: z.boolean().optional().meta({ description: 'False pauses the key.' }),
};

export const createKeyRequestSchema = z
  .strictObject({ name: keyNameSchema, ...settings })
  .meta({ id: 'CreateKeyRequest' });

/** A change of an API key. Absent fields stay unchanged; null removes a limit. */
export const updateKeyRequestSchema = z
  .strictObject({
    name: keyNameSchema.optional(),
    ...settings,
    creator_left: z.literal(false).optional().meta({ description: 'Keeps the key of a member who has left.' }),
  })
  .meta({ id: 'UpdateKeyRequest' });

export const rotateKeyRequestSchema = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(604_800)
      .default(86_400)
      .meta({ description: 'Seconds for which the previous secret stays valid.' }),
  })
  .meta({ id: 'RotateKeyRequest' });

/** An API key as its owner sees it, without the key itself. */
export const apiKeySchema = z
  .object({
    id: idSchema('key'),
    name: z.string(),
    prefix: z.string().meta({ description: 'The first characters of the key, for recognition.' }),
    expires_at: timestampSchema.nullable(),
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    monthly_limit_micros: microsSchema.nullable(),
    models: z.array(z.string()).nullable(),
    active: z.boolean(),
    spent_this_month_micros: microsSchema
      .nullable()
      .meta({ description: 'Since the first of the month (UTC). Null while billing is unavailable.' }),
    created_at: timestampSchema,
    created_by: namedPersonSchema,
    creator_left: z.boolean().meta({
      description: 'The creator is no longer a member of the organization, and an admin has not kept the key.',
    }),
    last_used_at: timestampSchema.nullable(),
    previous_expires_at: timestampSchema
      .nullable()
      .meta({ description: 'End of the overlap after a rotation; null outside one.' }),
  })
  .meta({ id: 'ApiKey' });

/** The new key, shown only once. */
export const apiKeyCreatedSchema = apiKeySchema.extend({ key: z.string() }).meta({ id: 'ApiKeyCreated' });

/** The new secret of a rotated key, shown only once. */
export const apiKeyRotatedSchema = z
  .object({ id: idSchema('key'), key: z.string(), prefix: z.string(), previous_expires_at: timestampSchema.nullable() })
  .meta({ id: 'ApiKeyRotated' });

/** The API key that authenticated the request, with its wallet. */
export const ownKeySchema = apiKeySchema.extend({ wallet: keyWalletSchema }).meta({ id: 'OwnApiKey' });

/** `{key_id}` in a path. */
export const keyIdParams = z.object({ key_id: pathIdSchema });
