import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { timestampSchema } from '../core/time.ts';

/** Languages of the pages. */
export const localeSchema = z.enum(['it', 'en']);

/** One of the languages of the pages. */
export type Locale = z.infer<typeof localeSchema>;

/** Kinds of account; only business accounts manage apps. */
export const accountTypeSchema = z.enum(['personal', 'business']);

/** One of the kinds of account. */
export type AccountType = z.infer<typeof accountTypeSchema>;

const emailSchema = z
  .string()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/);

const newPasswordSchema = z.string().min(12).max(128);

/** An account as its owner sees it. */
export const accountSchema = z
  .object({
    svc_user_id: idSchema('usr'),
    email: z.string(),
    account_type: accountTypeSchema,
    business_name: z.string().nullable(),
    display_name: z.string().nullable(),
    locale: localeSchema,
    created_at: timestampSchema,
  })
  .meta({ id: 'Account' });

/** An account as its owner sees it. */
export type Account = z.infer<typeof accountSchema>;

/** Sign-up. A business account names its business. */
export const createAccountRequestSchema = z
  .strictObject({
    email: emailSchema,
    password: newPasswordSchema,
    account_type: accountTypeSchema,
    business_name: z.string().trim().min(1).max(120).nullish(),
    display_name: z.string().trim().min(1).max(80).nullish(),
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

/** Sign-in. Only bounded here: what cannot be a password is simply a wrong one. */
export const createSessionRequestSchema = z
  .strictObject({
    email: z.string().min(1).max(254),
    password: z.string().min(1).max(1024),
  })
  .meta({ id: 'CreateSessionRequest' });

/** Header that makes a device known again: its last `device_token`. */
export const deviceHeaders = z.object({ 'x-svc-device': z.string().max(512).optional() });

/** A fresh console session. `expires_in` is in seconds. `device_token` is there unless a session was resumed. */
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

/** Whether people can sign in with an OpenID provider, and what it is called where the operator has named it. */
export const ssoStatusSchema = z
  .object({ enabled: z.boolean(), name: z.string().nullable() })
  .meta({ id: 'SsoStatus' });

/** Characters of `return_to` at most: with all that goes with it, it fits into one cookie. */
const RETURN_TO_CHARACTERS_MAX = 1_800;

/** Where single sign-on leads in the end: a path of ours, never another origin. */
export const returnToSchema = z
  .string()
  .max(RETURN_TO_CHARACTERS_MAX)
  .regex(/^\/(?!\/)[!-[\]-~]*$/);

/** Query of the beginning of single sign-on. */
export const startSsoQuerySchema = z.object({ return_to: returnToSchema.default('/') });

/** The password that proves the owner; an account that has none leaves it out, and must have signed in just now. */
const currentPasswordSchema = z.string().min(1).max(1024).nullish();

/** Change of password. `revoke_access` ends the connections and API keys of the account too. */
export const changePasswordRequestSchema = z
  .strictObject({
    current_password: currentPasswordSchema,
    new_password: newPasswordSchema,
    revoke_access: z.boolean().default(false),
  })
  .meta({ id: 'ChangePasswordRequest' });

/** Change of address. */
export const changeEmailRequestSchema = z
  .strictObject({ current_password: currentPasswordSchema, email: emailSchema })
  .meta({ id: 'ChangeEmailRequest' });
