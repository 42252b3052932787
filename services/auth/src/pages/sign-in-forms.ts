import {
  createAccountRequestSchema,
  createSessionRequestSchema,
  type Locale,
  type PasskeyAssertion,
  passkeyAssertionSchema,
  secondFactorRequestSchema,
} from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { type CreateAccountDeps, createAccount } from '../accounts/index.ts';
import type { FactorClaim } from '../factors/index.ts';
import {
  finishSignIn,
  reopenChallenge,
  type SecondProof,
  type SignInOrigin,
  type StartedSession,
  type StartSessionDeps,
  signIn,
  signInWithPasskey,
  startSession,
} from '../sessions/index.ts';
import { type PageText, pageText } from './page-text.ts';
import { type AskedStep, EMPTY_FORM, type FormState } from './sign-in-pages.ts';

const SECONDS_PER_MINUTE = 60;

/** Result of a sign-in form: the session, the second step, or the form with its errors. */
export type SignInOutcome = { started: StartedSession } | AskedStep | { refused: FormState };

/** Fields of a sign-in form, and their origin. */
export interface SubmittedForm {
  readonly fields: URLSearchParams;
  readonly text: PageText;
  readonly origin: SignInOrigin;
}

/** Signs in with the fields of a form. Returns the second step if there is one, or the form with its errors. */
export const signInByForm = async (
  deps: StartSessionDeps,
  { fields, text, origin }: SubmittedForm,
): Promise<SignInOutcome> => {
  const email = fields.get('email') ?? '';
  const credentials = createSessionRequestSchema.safeParse({ email, password: fields.get('password') ?? '' });
  try {
    if (!credentials.success) throw new AppError('invalid_credentials');
    return { started: await signIn(deps, credentials.data, origin) };
  } catch (error) {
    const isNotEnough = error instanceof AppError && error.code === 'second_factor_required';
    if (isNotEnough) return { step: await reopenChallenge(deps, String(error.details['challenge'])) };
    const message = messageFor(error, text);
    if (message === undefined) throw error;
    return { refused: { ...EMPTY_FORM, email, errors: { form: message } } };
  }
};

/** Returns the text for a refusal, or undefined for other failures. */
export const messageFor = (error: unknown, text: PageText): string | undefined => {
  if (!(error instanceof AppError)) return undefined;
  switch (error.code) {
    case 'invalid_credentials':
      return text.wrongPassword;
    case 'invalid_second_factor':
      return text.wrongCode;
    case 'invalid_passkey':
      return text.passkeyWrong;
    case 'challenge_invalid':
      return text.challengeOver;
    case 'too_many_attempts':
      return text.tooMany(Math.ceil(Number(error.headers['retry-after'] ?? SECONDS_PER_MINUTE) / SECONDS_PER_MINUTE));
    case 'account_deletion_pending':
      return text.deletionPending;
    case 'service_unavailable':
      return text.unavailable;
    default:
      return undefined;
  }
};

/** Parses the assertion that the page's script puts into a form. Returns undefined if it is malformed. */
const readAssertion = (field: string): PasskeyAssertion | undefined => {
  try {
    return passkeyAssertionSchema.safeParse(JSON.parse(field)).data;
  } catch {
    return undefined;
  }
};

export interface SignUpFormDeps extends CreateAccountDeps, StartSessionDeps {}

/** Opens an account with the fields of a form and signs in. Returns the form with its errors if it is refused. */
export const signUpByForm = async (
  deps: SignUpFormDeps,
  { fields, locale, origin }: { fields: URLSearchParams; locale: Locale; origin: SignInOrigin },
): Promise<{ started: StartedSession } | { refused: FormState }> => {
  const text = pageText(locale);
  const state = {
    email: fields.get('email') ?? '',
    displayName: fields.get('display_name') ?? '',
    accountType: fields.get('account_type') === 'business' ? ('business' as const) : ('personal' as const),
    businessName: fields.get('business_name') ?? '',
  };
  const parsed = createAccountRequestSchema.safeParse({
    email: state.email.trim(),
    password: fields.get('password') ?? '',
    locale,
    account_type: state.accountType,
    display_name: state.displayName.trim() === '' ? null : state.displayName,
    ...(state.accountType === 'business' ? { business_name: state.businessName } : {}),
  });
  if (!parsed.success) return { refused: { ...state, errors: errorsOf(parsed.error.issues, text) } };
  const { email, password, account_type, business_name, display_name } = parsed.data;
  const owner = {
    email,
    password,
    locale,
    accountType: account_type,
    businessName: business_name ?? null,
    displayName: display_name ?? null,
  };
  try {
    const account = await createAccount(deps, owner, origin.source);
    return { started: await startSession(deps, account, origin) };
  } catch (error) {
    const errors = errorsFor(error, text);
    if (errors === undefined) throw error;
    return { refused: { ...state, errors } };
  }
};

const errorsOf = (issues: readonly { path: readonly PropertyKey[] }[], text: PageText): FormState['errors'] => {
  const has = (name: string): boolean => issues.some(({ path }) => path[0] === name);
  return {
    ...(has('email') ? { email: text.emailInvalid } : {}),
    ...(has('password') ? { password: text.passwordLength } : {}),
    ...(has('display_name') ? { displayName: text.nameInvalid } : {}),
    ...(has('business_name') ? { businessName: text.businessNameInvalid } : {}),
  };
};

const errorsFor = (error: unknown, text: PageText): FormState['errors'] | undefined => {
  // The address is taken. Only its mailbox may reveal that.
  if (error instanceof AppError && error.code === 'invalid_credentials') return { form: text.checkMail };
  if (error instanceof AppError && error.code === 'email_taken') return { email: text.emailTaken };
  // The only field that sign-up checks beyond the contract.
  if (error instanceof AppError && error.issues !== undefined) return { password: text.passwordCommon };
  const message = messageFor(error, text);
  return message === undefined ? undefined : { form: message };
};

/** A code of an authenticator app, with the spaces that some apps show. Other text counts as a recovery code. */
const TOTP_CODE = /^\s*(\d\s*){6}$/;

/**
 * Completes a sign-in with the second step. On failure, returns the step with its error, or the sign-in form if the
 * step has expired.
 */
export const finishByForm = async (
  deps: StartSessionDeps,
  { fields, text, origin }: SubmittedForm,
  more: Pick<SecondProof, 'complete'> = {},
): Promise<SignInOutcome> => {
  const challenge = fields.get('challenge') ?? '';
  try {
    const { complete } = more;
    const proof = { challenge, claim: readClaim(challenge, fields), ...(complete === undefined ? {} : { complete }) };
    return { started: await finishSignIn(deps, proof, origin) };
  } catch (error) {
    const message = messageFor(error, text);
    if (message === undefined) throw error;
    return await askAgain(deps, { challenge, message, text });
  }
};

const askAgain = async (
  deps: StartSessionDeps,
  { challenge, message, text }: { challenge: string; message: string; text: PageText },
): Promise<AskedStep | { refused: FormState }> => {
  try {
    return { step: await reopenChallenge(deps, challenge), error: message };
  } catch (error) {
    const isOver = error instanceof AppError && error.code === 'challenge_invalid';
    if (isOver) return { refused: { ...EMPTY_FORM, errors: { form: text.challengeOver } } };
    throw error;
  }
};

/** Throws `invalid_second_factor` if the contract refuses the fields. */
const readClaim = (challenge: string, fields: URLSearchParams): FactorClaim => {
  const sent = fields.get('assertion') ?? '';
  if (sent !== '') {
    const assertion = readAssertion(sent);
    if (assertion === undefined) throw new AppError('invalid_second_factor');
    return { assertion };
  }
  const code = fields.get('code') ?? '';
  const isTotp = TOTP_CODE.test(code);
  const parsed = secondFactorRequestSchema.safeParse({ challenge, [isTotp ? 'code' : 'recovery_code']: code });
  if (!parsed.success) throw new AppError('invalid_second_factor');
  return isTotp ? { code } : { recoveryCode: code };
};

/** Signs in with the assertion of a passkey form. Returns the sign-in form with its error if that is refused. */
export const signInByPasskeyForm = async (
  deps: StartSessionDeps,
  { fields, text, origin }: SubmittedForm,
): Promise<{ started: StartedSession } | { refused: FormState }> => {
  try {
    const assertion = readAssertion(fields.get('assertion') ?? '');
    if (assertion === undefined) throw new AppError('invalid_passkey');
    return { started: await signInWithPasskey(deps, assertion, origin) };
  } catch (error) {
    const message = messageFor(error, text);
    if (message === undefined) throw error;
    return { refused: { ...EMPTY_FORM, errors: { form: message } } };
  }
};
