import { z } from 'zod';
import { idSchema, pathIdSchema } from '../core/ids.ts';
import { nameSchema } from '../core/name.ts';
import { timestampSchema } from '../core/time.ts';

/** Kinds of second factor. */
export const factorTypeSchema = z.enum(['totp', 'passkey']);

export type FactorType = z.infer<typeof factorTypeSchema>;

/** A second factor as its owner sees it. */
export const factorSchema = z
  .object({
    id: idSchema('fac'),
    type: factorTypeSchema,
    name: z.string(),
    created_at: timestampSchema,
    last_used_at: timestampSchema.nullable(),
  })
  .meta({ id: 'Factor' });

export type Factor = z.infer<typeof factorSchema>;

export const factorListSchema = z
  .object({ data: z.array(factorSchema), recovery_codes_left: z.int() })
  .meta({ id: 'FactorList' });

export const factorIdParams = z.object({ factor_id: pathIdSchema });

const factorNameSchema = nameSchema(80).nullish();

/** Loose bounds, because a value that is no possible code is just a wrong code. Blanks are ignored. */
const codeSchema = z.string().min(1).max(64);

export const addTotpRequestSchema = z.strictObject({ name: factorNameSchema }).meta({ id: 'AddTotpRequest' });

/** A TOTP factor that is not in use yet. The secret is shown only here. */
export const totpAddedSchema = z
  .object({ id: idSchema('fac'), secret: z.string(), otpauth_url: z.string() })
  .meta({ id: 'TotpAdded' });

export const confirmTotpRequestSchema = z.strictObject({ code: codeSchema }).meta({ id: 'ConfirmTotpRequest' });

/** New recovery codes, shown only once. Earlier ones are void. */
export const recoveryCodesSchema = z.object({ recovery_codes: z.array(z.string()) }).meta({ id: 'RecoveryCodes' });

const base64urlSchema = z
  .string()
  .min(1)
  .max(64 * 1024)
  .regex(/^[A-Za-z0-9_-]+$/);

const credentialShape = {
  id: base64urlSchema,
  rawId: base64urlSchema,
  type: z.literal('public-key'),
  clientExtensionResults: z.looseObject({}).optional(),
};

/** Registration of a passkey, as `PublicKeyCredential.toJSON()` returns it (WebAuthn Level 3), with an optional name. */
export const addPasskeyRequestSchema = z
  .looseObject({
    ...credentialShape,
    response: z.looseObject({
      clientDataJSON: base64urlSchema,
      attestationObject: base64urlSchema,
      transports: z.array(z.string().max(32)).max(16).optional(),
    }),
    name: factorNameSchema,
  })
  .meta({ id: 'AddPasskeyRequest' });

/** Assertion of a passkey, as `PublicKeyCredential.toJSON()` returns it (WebAuthn Level 3). */
export const passkeyAssertionSchema = z
  .looseObject({
    ...credentialShape,
    response: z.looseObject({
      clientDataJSON: base64urlSchema,
      authenticatorData: base64urlSchema,
      signature: base64urlSchema,
      userHandle: z.string().max(256).nullish(),
    }),
  })
  .meta({ id: 'PasskeyAssertion' });

export type PasskeyAssertion = z.infer<typeof passkeyAssertionSchema>;

/** A new passkey. The account's first factor comes with recovery codes, shown only here. */
export const passkeyAddedSchema = factorSchema
  .extend({ recovery_codes: z.array(z.string()).optional() })
  .meta({ id: 'PasskeyAdded' });

/** Options for `navigator.credentials.create()` (WebAuthn Level 3). */
export const creationOptionsSchema = z
  .looseObject({ challenge: z.string(), rp: z.looseObject({}), user: z.looseObject({}) })
  .meta({ id: 'PublicKeyCredentialCreationOptions' });

/** Options for `navigator.credentials.get()` (WebAuthn Level 3). */
export const requestOptionsSchema = z
  .looseObject({ challenge: z.string(), rpId: z.string() })
  .meta({ id: 'PublicKeyCredentialRequestOptions' });

/** Requires exactly one of some optional members. */
const exactlyOne =
  <N extends string>(names: readonly [N, ...N[]]) =>
  (value: { readonly [name in N]?: unknown }, context: z.RefinementCtx): void => {
    const [first, second] = names.filter((name) => value[name] != null);
    if (first === undefined) {
      const params = { type: 'missing' };
      context.addIssue({ code: 'custom', path: [names[0]], message: 'Field required', params });
    } else if (second !== undefined) {
      const message = `Value error, send only one of ${names.join(', ')}`;
      context.addIssue({ code: 'custom', path: [second], message, params: { type: 'value_error' } });
    }
  };

/** Second step of a sign-in: the challenge of the first, and one proof. */
export const secondFactorRequestSchema = z
  .strictObject({
    challenge: z.string().min(1).max(256),
    code: codeSchema.nullish(),
    recovery_code: codeSchema.nullish(),
    assertion: passkeyAssertionSchema.nullish(),
  })
  .superRefine(exactlyOne(['code', 'recovery_code', 'assertion']))
  .meta({ id: 'SecondFactorRequest' });

/** Proof that the person at a console session is the owner of the account. */
export const reauthenticateRequestSchema = z
  .strictObject({
    password: z.string().min(1).max(1024).nullish(),
    code: codeSchema.nullish(),
    assertion: passkeyAssertionSchema.nullish(),
  })
  .superRefine(exactlyOne(['password', 'code', 'assertion']))
  .meta({ id: 'ReauthenticateRequest' });
