import { z } from 'zod';
import { clientIdSchema, idSchema } from '../core/ids.ts';
import { emailSchema, nameSchema, publicNameSchema } from '../core/name.ts';
import { personalDataSchema } from '../core/personal-data.ts';
import { timestampSchema } from '../core/time.ts';
import { organizationSchema } from './organizations.ts';

export const localeSchema = z.enum(['it', 'en']);

export type Locale = z.infer<typeof localeSchema>;

/** Kinds of account. Only business accounts manage apps. */
export const accountTypeSchema = z.enum(['personal', 'business']);

export type AccountType = z.infer<typeof accountTypeSchema>;

const newPasswordSchema = z.string().min(12).max(128);

const businessNameSchema = publicNameSchema(120);

const displayNameSchema = nameSchema(80);

/** An account as its owner sees it. */
export const accountSchema = z
  .object({
    svc_user_id: idSchema('usr'),
    email: z.string(),
    account_type: accountTypeSchema,
    business_name: z.string().nullable(),
    display_name: z.string().nullable(),
    locale: localeSchema,
    has_second_factor: z.boolean(),
    created_at: timestampSchema,
    email_verified: z.boolean(),
    organization: organizationSchema
      .nullable()
      .meta({ description: 'The organization that the token acts for; null where a person acts for themself.' }),
  })
  .meta({ id: 'Account' });

export type Account = z.infer<typeof accountSchema>;

/** Sign-up. Business accounts require a business name. */
export const createAccountRequestSchema = z
  .strictObject({
    email: emailSchema,
    password: newPasswordSchema,
    account_type: accountTypeSchema,
    business_name: businessNameSchema.nullish(),
    display_name: displayNameSchema.nullish(),
    locale: localeSchema.default('it'),
  })
  .superRefine((account, context) => {
    if (account.account_type === 'business' && !account.business_name) {
      context.addIssue({
        code: 'custom',
        path: ['business_name'],
        message: 'Field required',
        params: { type: 'missing' },
      });
    }
  })
  .meta({ id: 'CreateAccountRequest' });

/** Change of the profile. Absent fields stay unchanged; a display name of null is removed. */
export const updateAccountRequestSchema = z
  .strictObject({
    display_name: displayNameSchema.nullable().optional(),
    locale: localeSchema.optional(),
    business_name: businessNameSchema.optional(),
  })
  .meta({ id: 'UpdateAccountRequest' });

export const upgradeAccountRequestSchema = z
  .strictObject({ business_name: businessNameSchema })
  .meta({ id: 'UpgradeAccountRequest' });

/** Sign-in. The bounds are loose, because a value that is no possible password is just a wrong password. */
export const createSessionRequestSchema = z
  .strictObject({
    email: z.string().min(1).max(254),
    password: z.string().min(1).max(1024),
  })
  .meta({ id: 'CreateSessionRequest' });

/** Header with the last `device_token` of a device that has signed in before. */
export const deviceHeaders = z.object({ 'x-svc-device': z.string().max(512).optional() });

/** A new console session. `expires_in` is in seconds. A resumed session has no `device_token`. */
export const sessionCreatedSchema = z
  .object({
    session_token: z.string(),
    token_type: z.literal('Bearer'),
    expires_in: z.int(),
    account: accountSchema,
    device_token: z.string().optional(),
  })
  .meta({ id: 'SessionCreated' });

/** The console session of the presented token. */
export const sessionSchema = z.object({ account: accountSchema, expires_at: timestampSchema }).meta({ id: 'Session' });

/** The same session with a new token. `expires_in` is in seconds. */
export const sessionRenewedSchema = z
  .object({ session_token: z.string(), token_type: z.literal('Bearer'), expires_in: z.int() })
  .meta({ id: 'SessionRenewed' });

/** Availability of sign-in with an OpenID provider, and the provider's name if the operator has set one. */
export const ssoStatusSchema = z
  .object({ enabled: z.boolean(), name: z.string().nullable() })
  .meta({ id: 'SsoStatus' });

/** Limit of `return_to`, so that the SSO state fits into one cookie. */
const RETURN_TO_CHARACTERS_MAX = 1_800;

/** Page shown after single sign-on: a path on this origin. */
export const returnToSchema = z
  .string()
  .max(RETURN_TO_CHARACTERS_MAX)
  .regex(/^\/(?!\/)[!-[\]-~]*$/);

export const startSsoQuerySchema = z.object({
  return_to: returnToSchema.default('/'),
  fresh: z.literal('true').optional().meta({
    description: 'Asks the provider to authenticate the person again, so that the session counts as recently proven.',
  }),
});

export const linkSsoRequestSchema = z
  .strictObject({ return_to: returnToSchema.default('/') })
  .meta({ id: 'LinkSsoRequest' });

/** Address at the OpenID provider to which the browser goes. */
export const ssoLinkStartedSchema = z.object({ url: z.string() }).meta({ id: 'SsoLinkStarted' });

/** Current password. Accounts without one omit it and must have signed in recently. */
const currentPasswordSchema = z.string().min(1).max(1024).nullish();

/** Password change. With `revoke_access`, the account's connections and API keys end as well. */
export const changePasswordRequestSchema = z
  .strictObject({
    current_password: currentPasswordSchema,
    new_password: newPasswordSchema,
    revoke_access: z.boolean().default(false),
  })
  .meta({ id: 'ChangePasswordRequest' });

export const changeEmailRequestSchema = z
  .strictObject({ current_password: currentPasswordSchema, email: emailSchema })
  .meta({ id: 'ChangeEmailRequest' });

/** A console session in the list of its owner. `source` is a network: a /24 or /48 prefix. */
export const listedSessionSchema = z
  .object({
    id: idSchema('ses'),
    created_at: timestampSchema,
    last_used_at: timestampSchema,
    user_agent: z.string().nullable(),
    source: z.string().nullable(),
    is_current: z.boolean(),
  })
  .meta({ id: 'ListedSession' });

export type ListedSession = z.infer<typeof listedSessionSchema>;

/** Token of a link in a mail. */
const mailedTokenSchema = z.string().min(1).max(256);

export const mailedTokenRequestSchema = z.strictObject({ token: mailedTokenSchema }).meta({ id: 'MailedTokenRequest' });

export const requestPasswordResetSchema = z.strictObject({ email: emailSchema }).meta({ id: 'RequestPasswordReset' });

/** A new password by a mailed link. Connections and API keys end as well, unless `keep_access`. */
export const confirmPasswordResetSchema = z
  .strictObject({ token: mailedTokenSchema, password: newPasswordSchema, keep_access: z.boolean().default(false) })
  .meta({ id: 'ConfirmPasswordReset' });

/** An address that becomes the account's once it is confirmed. */
export const pendingEmailSchema = z.object({ pending_email: z.string() }).meta({ id: 'PendingEmail' });

/** Deletion of the account. Only an account without a password omits it. */
export const deleteAccountRequestSchema = z
  .strictObject({ password: currentPasswordSchema })
  .meta({ id: 'DeleteAccountRequest' });

export const accountDeletionSchema = z.object({ erased_at: timestampSchema }).meta({ id: 'AccountDeletion' });

/** Data of the webhook dispatcher about a person. */
export const exportedWebhookDataSchema = z
  .looseObject({
    connections: z.array(z.looseObject({})),
    events: z
      .array(
        z.looseObject({
          client_id: clientIdSchema,
          event_id: idSchema('evt'),
          event: z.string(),
          sequence: z.int(),
          status: z.string(),
          created: z.string(),
          body: z.looseObject({}).describe('What the app was sent, or will be.'),
        }),
      )
      .describe('Events about the person, of connected apps. Those that are done are deleted after a while.'),
    event_retention: z
      .array(z.looseObject({ days: z.int(), kept_since: z.string() }))
      .describe('One row. Events from before `kept_since` are here only if they are still to be delivered.'),
  })
  .meta({ id: 'ExportedWebhookData' });

/** Everything that all services hold about a person. Sections are arrays of rows. */
export const accountExportSchema = z
  .object({
    version: z.literal(1),
    svc_user_id: idSchema('usr'),
    created_at: timestampSchema,
    auth: personalDataSchema,
    billing: personalDataSchema,
    inference_gateway: personalDataSchema,
    webhook_dispatcher: exportedWebhookDataSchema,
  })
  .meta({ id: 'AccountExport' });

/**
 * Name of the cookie that tells the console which page to show at `/`. It holds no secret: it only says that this browser
 * has signed in and not out since. Over https it has the prefix `__Host-`.
 */
export const SIGNED_IN_COOKIE = 'svc_signed_in';
