import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { timestampSchema } from '../core/time.ts';
import { linkSchema } from '../core/url.ts';

/** Public apps prove themselves by the PKCE verifier alone, confidential ones by their secret too. */
export const clientTypeSchema = z.enum(['public', 'confidential']);

const nameSchema = z.string().trim().min(1).max(80);
/** One redirect URI; what it must look like is judged by the auth service. */
const redirectUriSchema = z.string().min(1).max(2048);
const redirectUrisSchema = z.array(redirectUriSchema).min(1).max(10);
const descriptionSchema = z.string().max(500);
const refreshGraceSchema = z.int().min(0).max(120);
/** RFC 9126 section 6: whether the authorize page takes nothing of this app but what it has pushed. */
const pushedOnlySchema = z.boolean();
/** RFC 9449 section 5.2: whether the token endpoint gives this app nothing but tokens that are bound to a key. */
const dpopOnlySchema = z.boolean();

/** An app as its owner sees it. */
export const appSchema = z
  .object({
    client_id: idSchema('app'),
    name: z.string(),
    description: z.string().nullable(),
    client_type: clientTypeSchema,
    redirect_uris: z.array(z.string()),
    homepage_url: z.string().nullable(),
    privacy_policy_url: z.string().nullable(),
    icon_url: z.string(),
    active: z.boolean(),
    refresh_grace_seconds: z.int(),
    require_pushed_authorization_requests: z.boolean(),
    dpop_bound_access_tokens: z.boolean(),
    created_at: timestampSchema,
    updated_at: timestampSchema,
    secret_rotated_at: timestampSchema.nullable(),
    connections_count: z.int(),
  })
  .meta({ id: 'App' });

/** An app as its owner sees it. */
export type App = z.infer<typeof appSchema>;

/** Registration of an app. */
export const registerAppRequestSchema = z
  .strictObject({
    name: nameSchema,
    redirect_uris: redirectUrisSchema,
    client_type: clientTypeSchema.default('confidential'),
    homepage_url: linkSchema.nullish(),
    privacy_policy_url: linkSchema.nullish(),
    description: descriptionSchema.nullish(),
    refresh_grace_seconds: refreshGraceSchema.default(30),
    require_pushed_authorization_requests: pushedOnlySchema.default(false),
    dpop_bound_access_tokens: dpopOnlySchema.default(false),
  })
  .meta({ id: 'RegisterAppRequest' });

/** The new app and, for a confidential one, its secret: shown this once. */
export const appRegisteredSchema = appSchema
  .extend({ client_secret: z.string().optional() })
  .meta({ id: 'AppRegistered' });

/** A change of an app: its state, and any registration field but the type. */
export const updateAppRequestSchema = z
  .strictObject({
    active: z.boolean(),
    name: nameSchema.optional(),
    redirect_uris: redirectUrisSchema.optional(),
    homepage_url: linkSchema.nullish(),
    privacy_policy_url: linkSchema.nullish(),
    description: descriptionSchema.nullish(),
    refresh_grace_seconds: refreshGraceSchema.optional(),
    require_pushed_authorization_requests: pushedOnlySchema.optional(),
    dpop_bound_access_tokens: dpopOnlySchema.optional(),
  })
  .meta({ id: 'UpdateAppRequest' });

/** How long the old secret lives beside the new one; 0 when no body is sent. */
export const rotateSecretRequestSchema = z
  .strictObject({
    overlap_seconds: z.int().min(0).max(604_800).default(0),
  })
  .meta({ id: 'RotateSecretRequest' });

/** The rotated secret: shown this once. */
export const secretRotatedSchema = z
  .object({
    client_id: idSchema('app'),
    client_secret: z.string(),
    secret_rotated_at: timestampSchema,
    previous_secret_expires_at: timestampSchema.nullable(),
  })
  .meta({ id: 'SecretRotated' });

/** `{client_id}` in a path. */
export const clientIdParams = z.object({ client_id: pathIdSchema });
