import { z } from 'zod';
import { budgetLimitSchema, budgetPeriodSchema } from '../billing/app-budgets.ts';
import { planServicesSchema } from '../billing/plans.ts';
import { subscriptionStatusSchema } from '../billing/subscriptions.ts';
import { windowUsageSchema } from '../billing/usage.ts';
import { clientIdSchema, idSchema, pathClientIdSchema } from '../core/ids.ts';
import { URL_CHARACTERS_MAX } from '../core/limits.ts';
import { currencySchema, nonNegativeMicrosSchema } from '../core/money.ts';
import { nameSchema } from '../core/name.ts';
import { DEFAULT_SCOPE, scopes } from '../core/route.ts';
import { timestampInputSchema } from '../core/time.ts';
import { localeSchema } from './accounts.ts';

/** The only supported type of authorization details (RFC 9396 section 2). */
export const INFERENCE_BUDGET = 'inference_budget';

/** A budget of an app: proposed by the app, granted by the user. */
export const inferenceBudgetSchema = z
  .strictObject({
    type: z.literal(INFERENCE_BUDGET),
    limit_micros: nonNegativeMicrosSchema,
    currency: currencySchema,
    period: budgetPeriodSchema,
    expires_at: timestampInputSchema.optional(),
  })
  .meta({ id: 'InferenceBudget' });

export type InferenceBudget = z.infer<typeof inferenceBudgetSchema>;

/** Authorization details of a request or a grant: at most one budget. */
export const authorizationDetailsSchema = z.array(inferenceBudgetSchema).max(1);

const redirectUriSchema = z.string().min(1).max(URL_CHARACTERS_MAX);
const stateSchema = z.string().min(16).max(512);
/** Base64url of a SHA-256 digest (RFC 7636 section 4.2). */
const codeChallengeSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/);
const scopeSchema = z.string().max(256);
const AUTHORIZATION_DETAILS_CHARACTERS_MAX = 1_024;
/** Thumbprint of the key that the code will be bound to (RFC 9449 section 10). */
const dpopThumbprintSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/**
 * JSON of RFC 9396 section 2. Accepts any text, because the server reports malformed details to the app as an error.
 */
const authorizationDetailsTextSchema = z
  .string()
  .max(AUTHORIZATION_DETAILS_CHARACTERS_MAX)
  .meta({ description: 'JSON: a list of at most one `inference_budget`, which the user may change.' });

/** Query of the authorize page. */
export const authorizeQuerySchema = z.object({
  client_id: pathClientIdSchema,
  redirect_uri: redirectUriSchema,
  code_challenge: codeChallengeSchema,
  state: stateSchema,
  scope: scopeSchema.default(DEFAULT_SCOPE),
  response_type: z.literal('code').default('code'),
  code_challenge_method: z.literal('S256').default('S256'),
  locale: localeSchema.optional().meta({ description: 'Language of the pages. Default: `ui_locales`, else `it`.' }),
  ui_locales: z
    .string()
    .max(256)
    .optional()
    .meta({ description: 'Languages by preference (OpenID Connect Core 3.1.2.1).' }),
  dpop_jkt: dpopThumbprintSchema.optional(),
  authorization_details: authorizationDetailsTextSchema.optional(),
  resource: z
    .array(z.string())
    .max(8)
    .optional()
    .meta({ description: '`<base>/v1` or `<base>/v1/integrations` (RFC 8707).' }),
  prompt: z.string().max(64).optional().meta({
    description:
      '`none`: redirects at once, without a page (OpenID Connect Core 3.1.2.1). `create`: shows sign-up first.',
  }),
  response_mode: z.string().max(64).optional().meta({ description: 'Only `query`.' }),
  request: z.string().optional().meta({ description: 'Not supported: push the request instead (RFC 9126).' }),
});

export type AuthorizeQuery = z.infer<typeof authorizeQuerySchema>;

/** A user's decision on a consent request. */
export const consentRequestSchema = z
  .strictObject({
    client_id: pathClientIdSchema,
    redirect_uri: redirectUriSchema,
    scope: scopeSchema.default(DEFAULT_SCOPE),
    code_challenge: codeChallengeSchema,
    code_challenge_method: z.literal('S256'),
    state: stateSchema,
    approved: z.boolean(),
    dpop_jkt: dpopThumbprintSchema.optional(),
    budget: budgetLimitSchema
      .nullable()
      .optional()
      .meta({ description: "Limit of the app's use of the plan; null for none. If absent, an existing limit stays." }),
  })
  .meta({ id: 'ConsentRequest' });

/** URL to send the browser to after the decision. */
export const consentDecidedSchema = z.object({ redirect_to: z.string() }).meta({ id: 'ConsentDecided' });

export const consentQuerySchema = z.object({
  client_id: pathClientIdSchema,
  redirect_uri: redirectUriSchema,
  scope: scopeSchema,
  code_challenge: codeChallengeSchema,
  code_challenge_method: z.literal('S256'),
});

/** The rest of a person's plan. */
export const consentPlanSchema = z
  .object({
    name: z.string(),
    status: subscriptionStatusSchema,
    services: planServicesSchema,
    weekly: windowUsageSchema,
    monthly: windowUsageSchema,
  })
  .meta({ id: 'ConsentPlan' });

export type ConsentPlan = z.infer<typeof consentPlanSchema>;

export const consentDetailsSchema = z
  .object({
    app: z.object({
      client_id: clientIdSchema,
      name: z.string(),
      icon_url: z.string(),
      homepage_url: z.string().nullable(),
      privacy_policy_url: z.string().nullable(),
      publisher: z.string(),
      publisher_domain: z
        .string()
        .nullable()
        .meta({ description: 'Domain that the publisher has proven to own; null: not verified.' }),
    }),
    scopes: z.array(z.object({ name: z.enum(scopes), title: z.string(), description: z.string() })),
    already_connected: z.boolean(),
    account: z.object({ email: z.string(), display_name: z.string().nullable() }),
    plan: consentPlanSchema.nullable().meta({ description: 'Null where no subscription is live.' }),
  })
  .meta({ id: 'ConsentDetails' });

/** Grant type of device codes (RFC 8628 section 3.4). */
export const DEVICE_GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Name that a device gives itself, shown to the person who is asked. */
export const deviceNameSchema = nameSchema(80);

/** Form of the device authorization endpoint (RFC 8628 section 3.1). */
export const deviceAuthorizationRequestSchema = z
  .object({
    client_id: z.string().min(1),
    client_secret: z.string().nullish(),
    scope: z.string().nullish(),
    authorization_details: authorizationDetailsTextSchema.nullish(),
    device_name: deviceNameSchema.nullish(),
    resource: z.array(z.string()).optional(),
  })
  .meta({ id: 'DeviceAuthorizationRequest' });

/** Device authorization response (RFC 8628 section 3.2). Both times are in seconds. */
export const deviceAuthorizationSchema = z
  .object({
    device_code: z.string(),
    user_code: z.string(),
    verification_uri: z.string(),
    verification_uri_complete: z.string(),
    expires_in: z.int(),
    interval: z.int(),
  })
  .meta({ id: 'DeviceAuthorizationResponse' });

/** Query of the page on which people enter a device's code. Any text is taken, and counts as a code if it is none. */
export const devicePageQuerySchema = z.object({
  user_code: z.string().max(64).optional().meta({ description: 'Code that the device shows, to be confirmed.' }),
  locale: localeSchema.optional().meta({ description: 'Language of the page.' }),
});

/** Form of the token endpoint (RFC 6749 sections 4.1.3 and 6, RFC 7636 section 4.5, RFC 8628 section 3.4). */
export const tokenRequestSchema = z
  .object({
    grant_type: z.string().min(1),
    client_id: z.string().min(1),
    client_secret: z.string().nullish(),
    code: z.string().nullish(),
    redirect_uri: z.string().nullish(),
    code_verifier: z.string().nullish(),
    refresh_token: z.string().nullish(),
    device_code: z.string().nullish(),
    scope: z.string().nullish(),
    resource: z.array(z.string()).optional(),
  })
  .meta({ id: 'TokenRequest' });

/** Token response (RFC 6749 section 5.1) with the user's id. `expires_in` is in seconds. */
export const tokenResponseSchema = z
  .object({
    access_token: z.string(),
    refresh_token: z.string(),
    token_type: z.string(),
    expires_in: z.int(),
    scope: z.string(),
    svc_user_id: idSchema('usr'),
    authorization_details: authorizationDetailsSchema.optional().meta({
      description: 'The granted budget, if any (RFC 9396 section 7).',
    }),
  })
  .meta({ id: 'TokenResponse' });

/** Form of a pushed authorization request (RFC 9126 section 2.1): the authorize query and the client credentials. */
export const pushedRequestSchema = z
  .object({
    client_id: z.string().min(1),
    client_secret: z.string().nullish(),
    response_type: z.literal('code'),
    redirect_uri: z.string(),
    code_challenge: z.string(),
    code_challenge_method: z.literal('S256'),
    state: z.string(),
    scope: z.string().nullish(),
    locale: localeSchema.nullish(),
    ui_locales: z.string().nullish(),
    resource: z.array(z.string()).optional(),
    prompt: z.string().nullish(),
    dpop_jkt: z.string().nullish(),
    authorization_details: authorizationDetailsTextSchema.nullish(),
  })
  .meta({ id: 'PushedAuthorizationRequest' });

/** Answer to a pushed request (RFC 9126 section 2.2). `expires_in` is in seconds. */
export const pushedRequestAnswerSchema = z
  .object({ request_uri: z.string(), expires_in: z.int() })
  .meta({ id: 'PushedAuthorizationResponse' });

/** Form of the revocation endpoint (RFC 7009 section 2.1). */
export const revocationRequestSchema = z.object({
  token: z.string().min(1),
  token_type_hint: z.string().optional(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
});

/** Authorization server metadata for stock clients (RFC 8414 section 2). */
export const authorizationServerMetadataSchema = z
  .looseObject({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    jwks_uri: z.string(),
  })
  .meta({ id: 'AuthorizationServerMetadata' });

/** Protected resource metadata (RFC 9728 section 2). */
export const protectedResourceMetadataSchema = z
  .looseObject({
    resource: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
  })
  .meta({ id: 'ProtectedResourceMetadata' });
