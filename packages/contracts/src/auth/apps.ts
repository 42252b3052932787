import { z } from 'zod';
import { idSchema, pathClientIdSchema } from '../core/ids.ts';
import { descriptionSchema, publicNameSchema } from '../core/name.ts';
import { timestampSchema } from '../core/time.ts';
import { linkSchema } from '../core/url.ts';

/** Public apps authenticate with the PKCE verifier alone, confidential apps also with their secret. */
export const clientTypeSchema = z.enum(['public', 'confidential']);

/**
 * Fields of an app that its owner sets and changes. The auth service stores each one in the column of the same name. A
 * new field here breaks compilation until the registration and record schemas name it too.
 */
export const appFieldsSchema = z.object({
  name: publicNameSchema(80),
  /** The auth service checks their form. */
  redirect_uris: z.array(z.string().min(1).max(2048)).min(1).max(10),
  homepage_url: linkSchema.nullable(),
  privacy_policy_url: linkSchema.nullable(),
  description: descriptionSchema(500).nullable(),
  refresh_grace_seconds: z.int().min(0).max(120),
  /** If true, the authorize page accepts only pushed requests of this app (RFC 9126 section 6). */
  require_pushed_authorization_requests: z.boolean(),
  /** If true, devices without a browser may ask for this app (RFC 8628). */
  device_flow: z.boolean(),
  /** If true, the token endpoint issues only key-bound tokens to this app (RFC 9449 section 5.2). */
  dpop_bound_access_tokens: z.boolean(),
});

export type AppFields = z.infer<typeof appFieldsSchema>;

type SchemaOfEachField = Record<keyof AppFields, z.ZodType> & Record<string, z.ZodType>;

const fields = appFieldsSchema.shape;

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
    suspended_at: timestampSchema
      .nullable()
      .meta({ description: 'Since when an operator keeps the app inactive; null: not at all.' }),
    refresh_grace_seconds: z.int(),
    require_pushed_authorization_requests: z.boolean(),
    dpop_bound_access_tokens: z.boolean(),
    device_flow: z.boolean(),
    created_at: timestampSchema,
    updated_at: timestampSchema,
    secret_rotated_at: timestampSchema.nullable(),
    connections_count: z.int(),
  } satisfies SchemaOfEachField)
  .meta({ id: 'App' });

export type App = z.infer<typeof appSchema>;

export const registerAppRequestSchema = z
  .strictObject({
    name: fields.name,
    redirect_uris: fields.redirect_uris,
    client_type: clientTypeSchema.default('confidential'),
    homepage_url: fields.homepage_url.optional(),
    privacy_policy_url: fields.privacy_policy_url.optional(),
    description: fields.description.optional(),
    refresh_grace_seconds: fields.refresh_grace_seconds.default(30),
    require_pushed_authorization_requests: fields.require_pushed_authorization_requests.default(false),
    dpop_bound_access_tokens: fields.dpop_bound_access_tokens.default(false),
    device_flow: fields.device_flow.default(false),
  } satisfies SchemaOfEachField)
  .meta({ id: 'RegisterAppRequest' });

/** The new app. The secret of a confidential app is shown only once. */
export const appRegisteredSchema = appSchema
  .extend({ client_secret: z.string().optional() })
  .meta({ id: 'AppRegistered' });

/** Change of an app: its state, and any registration field except the type. */
export const updateAppRequestSchema = z
  .strictObject({
    active: z.boolean(),
    ...appFieldsSchema.partial().shape,
  })
  .meta({ id: 'UpdateAppRequest' });

/** Overlap of the old secret with the new one. Without a body, it is 0. */
export const rotateSecretRequestSchema = z
  .strictObject({
    overlap_seconds: z.int().min(0).max(604_800).default(0),
  })
  .meta({ id: 'RotateSecretRequest' });

/** The rotated secret, shown only once. */
export const secretRotatedSchema = z
  .object({
    client_id: idSchema('app'),
    client_secret: z.string(),
    secret_rotated_at: timestampSchema,
    previous_secret_expires_at: timestampSchema.nullable(),
  })
  .meta({ id: 'SecretRotated' });

/** `{client_id}` in a path. */
export const clientIdParams = z.object({ client_id: pathClientIdSchema });

export const appReportReasons = ['impersonation', 'spam', 'misuse', 'other'] as const;

export type AppReportReason = (typeof appReportReasons)[number];

/** Longest comment on a report. */
export const REPORT_COMMENT_CHARACTERS_MAX = 500;

export const reportAppRequestSchema = z
  .strictObject({
    reason: z.enum(appReportReasons),
    comment: descriptionSchema(REPORT_COMMENT_CHARACTERS_MAX).trim().min(1).optional(),
  })
  .meta({ id: 'ReportAppRequest' });
