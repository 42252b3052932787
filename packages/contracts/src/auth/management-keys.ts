import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { nameSchema } from '../core/name.ts';
import { created, defineRoute, json, jsonBody, listOf, managementScopes } from '../core/route.ts';
import { timestampInputSchema, timestampSchema } from '../core/time.ts';

const scopesSchema = z
  .array(z.enum(managementScopes))
  .min(1)
  .max(managementScopes.length)
  .meta({ description: 'What the key may do. A `:write` includes its `:read`.' });

export const createManagementKeyRequestSchema = z
  .strictObject({ name: nameSchema(80), scopes: scopesSchema, expires_at: timestampInputSchema.nullish() })
  .meta({ id: 'CreateManagementKeyRequest' });

/** A management key as its owner sees it, without the key itself. */
export const managementKeySchema = z
  .object({
    id: idSchema('mk'),
    name: z.string(),
    prefix: z.string().meta({ description: 'The first characters of the key, for recognition.' }),
    scopes: scopesSchema,
    expires_at: timestampSchema.nullable(),
    created_at: timestampSchema,
    last_used_at: timestampSchema.nullable().meta({ description: 'To the minute.' }),
  })
  .meta({ id: 'ManagementKey' });

export type ManagementKeyJson = z.infer<typeof managementKeySchema>;

/** The new key, shown only once. */
const managementKeyCreatedSchema = managementKeySchema.extend({ key: z.string() }).meta({ id: 'ManagementKeyCreated' });

const managementKeys = {
  service: 'auth',
  errorShape: 'detail',
  tag: 'Management keys',
  caller: 'console_session',
  managementScope: null,
} as const;

/** Routes of management keys. No management key is accepted here. */
export const managementKeyRoutes = {
  createManagementKey: defineRoute({
    ...managementKeys,
    stepUp: true,
    verifiedEmail: true,
    operationId: 'createManagementKey',
    role: 'admin',
    audit: 'management_key.created',
    method: 'POST',
    path: '/v1/console/management-keys',
    summary: 'Create a management key',
    description:
      'The answer has the key, once. Only its hash is stored. A program sends it in place of a session token, at the operations of its scopes.',
    request: { body: jsonBody(createManagementKeyRequestSchema) },
    responses: {
      201: created('The key, shown only once.', managementKeyCreatedSchema, '/v1/console/management-keys/{id}'),
    },
    errors: [],
  }),
  listManagementKeys: defineRoute({
    ...managementKeys,
    operationId: 'listManagementKeys',
    role: 'admin',
    method: 'GET',
    path: '/v1/console/management-keys',
    summary: 'List management keys',
    description: 'Returns the management keys of the account, newest first, without the keys themselves.',
    request: {},
    responses: { 200: json('The keys of this account.', listOf(managementKeySchema)) },
    errors: [],
  }),
  deleteManagementKey: defineRoute({
    ...managementKeys,
    stepUp: true,
    operationId: 'deleteManagementKey',
    role: 'admin',
    audit: 'management_key.deleted',
    method: 'DELETE',
    path: '/v1/console/management-keys/{management_key_id}',
    summary: 'Delete a management key',
    description: 'The key stops working in every service within a second. What it has created stays.',
    request: { params: z.object({ management_key_id: pathIdSchema }) },
    responses: { 204: { description: 'Deleted.' } },
    errors: ['not_found'],
  }),
} as const;

/** Maximum management keys in one look-up. */
export const MANAGEMENT_KEY_LOOKUPS_MAX = 500;

/** A management key and its account, as a service checks them when a program sends the key. */
export const foundManagementKeySchema = z.object({
  id: idSchema('mk'),
  svc_user_id: idSchema('usr'),
  created_by: idSchema('usr').meta({ description: 'Person who created the key.' }),
  session_id: idSchema('ses').meta({ description: 'Session that created the key.' }),
  account_type: z.enum(['personal', 'business']),
  is_email_unverified: z.boolean(),
  scopes: z.array(z.enum(managementScopes)),
  expires_at: timestampSchema.nullable(),
});

export type FoundManagementKey = z.infer<typeof foundManagementKeySchema>;

/** Look-up of management keys by the other services. It counts as a use. */
export const findManagementKeys = defineRoute({
  operationId: 'findManagementKeys',
  method: 'POST',
  path: '/internal/management-key-lookups',
  service: 'auth',
  caller: 'service',
  callers: ['billing', 'inference-gateway', 'webhook-dispatcher'],
  errorShape: 'detail',
  tag: 'Internal',
  summary: 'Find management keys by the SHA-256 of each, in hexadecimal',
  request: {
    body: jsonBody(
      z.strictObject({ digests: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(MANAGEMENT_KEY_LOOKUPS_MAX) }),
    ),
  },
  responses: {
    200: json(
      'The keys in the order of their digests; null for an unknown one.',
      listOf(foundManagementKeySchema.nullable()),
    ),
  },
  errors: [],
});
