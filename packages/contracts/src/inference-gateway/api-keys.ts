import { z } from 'zod';
import { namedPersonSchema } from '../auth/organizations.ts';
import { receiptSchema } from '../billing/receipts.ts';
import { requestIdParams } from '../billing/usage.ts';
import { keyWalletSchema } from '../billing/wallets.ts';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { microsSchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { nameSchema } from '../core/name.ts';
import { created, defineRoute, json, jsonBody, listOf, optionalJsonBody, pageOf } from '../core/route.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';
import { MODEL_NAME_CHARACTERS_MAX } from './gateway.ts';
import {
  gatewayUsageQuerySchema,
  gatewayUsageRecordSchema,
  usageSummaryGroupSchema,
  usageSummaryQuerySchema,
} from './usage-records.ts';

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

const console = {
  service: 'inference-gateway',
  errorShape: 'detail',
  tag: 'API keys',
  caller: 'console_session',
} as const;

/** Routes of API keys and their usage. */
export const keyRoutes = {
  createKey: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'createKey',
    role: 'developer',
    audit: 'api_key.created',
    managementScope: 'api_keys:write',
    method: 'POST',
    path: '/v1/gateway/keys',
    verifiedEmail: true,
    summary: 'Create an API key',
    description: 'The answer has the key, once. Only its hash is stored.',
    request: { body: jsonBody(createKeyRequestSchema) },
    responses: { 201: created('The key, shown only once.', apiKeyCreatedSchema, '/v1/gateway/keys/{id}') },
    errors: [],
  }),
  listKeys: defineRoute({
    ...console,
    operationId: 'listKeys',
    role: 'billing or developer',
    managementScope: 'api_keys:read',
    method: 'GET',
    path: '/v1/gateway/keys',
    summary: 'List API keys',
    description:
      'Returns the keys of the account with their limits and their use of this month, without the keys themselves.',
    request: {},
    responses: { 200: json('The keys of this account.', listOf(apiKeySchema)) },
    errors: [],
  }),
  getKey: defineRoute({
    ...console,
    operationId: 'getKey',
    role: 'billing or developer',
    managementScope: 'api_keys:read',
    method: 'GET',
    path: '/v1/gateway/keys/{key_id}',
    summary: 'Get an API key',
    description: 'Returns a key with its limits and its use of this month, without the key itself.',
    request: { params: keyIdParams },
    responses: { 200: json('The key.', apiKeySchema) },
    errors: [],
  }),
  updateKey: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'updateKey',
    role: 'developer',
    audit: 'api_key.updated',
    managementScope: 'api_keys:write',
    method: 'PATCH',
    path: '/v1/gateway/keys/{key_id}',
    summary: 'Change or pause an API key',
    description: 'Takes effect everywhere within one second.',
    request: { params: keyIdParams, body: jsonBody(updateKeyRequestSchema) },
    responses: { 200: json('The key.', apiKeySchema) },
    errors: [],
  }),
  rotateKey: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'rotateKey',
    role: 'developer',
    audit: 'api_key.rotated',
    managementScope: 'api_keys:write',
    method: 'POST',
    path: '/v1/gateway/keys/{key_id}/rotate',
    summary: 'Replace the secret of an API key',
    description: 'The previous secret stays valid for `overlap_seconds`. Any earlier secret ends at once.',
    request: { params: keyIdParams, body: optionalJsonBody(rotateKeyRequestSchema) },
    responses: { 200: json('The new secret, shown only once.', apiKeyRotatedSchema) },
    errors: [],
  }),
  deleteKey: defineRoute({
    ...console,
    stepUp: true,
    operationId: 'deleteKey',
    role: 'developer',
    audit: 'api_key.deleted',
    managementScope: 'api_keys:write',
    method: 'DELETE',
    path: '/v1/gateway/keys/{key_id}',
    summary: 'Delete an API key',
    description: 'The key stops working everywhere within a second. Its usage records stay.',
    request: { params: keyIdParams },
    responses: { 204: { description: 'The key stops working everywhere within one second.' } },
    errors: [],
  }),
  listGatewayUsage: defineRoute({
    ...console,
    operationId: 'listGatewayUsage',
    role: 'viewer',
    managementScope: 'usage:read',
    method: 'GET',
    path: '/v1/gateway/usage',
    summary: 'List usage metadata per request, newest first',
    request: { query: gatewayUsageQuerySchema },
    description: 'With `Accept: text/csv`, all pages as one CSV file.',
    responses: {
      200: {
        ...json('The records.', pageOf(gatewayUsageRecordSchema)),
        alternatives: { 'text/csv': z.string() },
      },
    },
    errors: [],
  }),
  summarizeGatewayUsage: defineRoute({
    ...console,
    operationId: 'summarizeGatewayUsage',
    role: 'viewer',
    managementScope: 'usage:read',
    method: 'GET',
    path: '/v1/gateway/usage/summary',
    summary: 'Sum up usage by key, model or day (UTC)',
    description: 'Returns requests, tokens and cost for each group.',
    request: { query: usageSummaryQuerySchema },
    responses: { 200: json('The groups.', listOf(usageSummaryGroupSchema)) },
    errors: [],
  }),
  getGatewayReceipt: defineRoute({
    ...console,
    caller: 'session_or_api_key',
    operationId: 'getGatewayReceipt',
    role: 'viewer',
    managementScope: 'usage:read',
    method: 'GET',
    path: '/v1/gateway/usage/{request_id}/receipt',
    summary: 'Get the signed receipt of a request',
    description: 'An API key reads the receipts of requests made with it.',
    request: { params: requestIdParams },
    responses: { 200: json('The receipt.', receiptSchema) },
    errors: ['not_found', 'not_settled', 'invalid_api_key'],
  }),
} as const;

/** Public routes of the inference gateway. */
