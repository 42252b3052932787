import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createAccountRequestSchema,
  type Locale,
  type PasskeyAssertion,
  passkeyAssertionSchema,
  routes,
  secondFactorRequestSchema,
} from '@svc/contracts';
import { AppError, type Binding, bind, type ReplyContent } from '@svc/service-kit';
import { createAccount } from '../../accounts/index.ts';
import type { FactorClaim } from '../../factors/index.ts';
import {
  clearedSessionCookies,
  endSession,
  findBrowserSession,
  finishSignIn,
  readPagesCookie,
  reopenChallenge,
  type SecondProof,
  type SignInOrigin,
  type StartedSession,
  type StartSessionDeps,
  sessionCookies,
  signInOriginOf,
  signInWithPasskey,
  startSession,
} from '../../sessions/index.ts';
import { prefersHtml } from './accepted-type.ts';
import { invalidQueryPage } from './message-pages.ts';
import { createPageContext, type PageText, pageText } from './page-context.ts';
import type { PagesDeps } from './pages-deps.ts';
import { preferredLocale } from './preferred-locale.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import type { AskedStep } from './second-factor-page.ts';
import { showAuthorizePage } from './show-authorize-page.ts';
import { authorizeFrame } from './sign-in-frame.ts';
import { EMPTY_FORM, type FormState, signUpPage } from './sign-in-page.ts';
import { submitDecision } from './submit-decision.ts';
import {
  answerSignInForm,
  messageFor,
  type SignInOutcome,
  type SubmittedForm,
  signInByForm,
} from './submit-sign-in.ts';

/** Parses the assertion that the page's script puts into a form. Returns undefined if it is malformed. */
const readAssertion = (field: string): PasskeyAssertion | undefined => {
  try {
    return passkeyAssertionSchema.safeParse(JSON.parse(field)).data;
  } catch {
    return undefined;
  }
};

/** Opens a personal account, signs in and redirects to the authorize page, or shows the form again with its errors. */
const submitSignUp = async (
  deps: PagesDeps,
  { req, res, source }: { req: IncomingMessage; res: ServerResponse; source: string },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, form, app } = read;
  // Apps connect personal accounts. Businesses sign up in the console.
  fields.delete('account_type');
  const origin = signInOriginOf({ req, clientAddress: source }, deps.publicBaseUrl);
  const outcome = await signUpByForm(deps, { fields, locale: form.query.locale, origin });
  if ('refused' in outcome) {
    const context = createPageContext(deps, { ...form, app, session: undefined });
    return signUpPage(authorizeFrame(context), outcome.refused);
  }
  res.appendHeader('set-cookie', sessionCookies(outcome.started, deps.publicBaseUrl));
  return backToAuthorize(deps, form);
};

/** Opens an account with the fields of a form and signs in. Returns the form with its errors if it is refused. */
export const signUpByForm = async (
  deps: PagesDeps,
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

/** Ends the session of this browser ("Not you?") and shows the sign-in form. */
const submitSignOut = async (
  deps: PagesDeps,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const found = await findBrowserSession(deps, readPagesCookie(req.headers.cookie, deps.publicBaseUrl));
  if (found !== undefined) await endSession(deps, found.session.id);
  res.appendHeader('set-cookie', clearedSessionCookies(deps.publicBaseUrl));
  return backToAuthorize(deps, read.form);
};

/** Binds the routes of the authorize page and its forms. */
export const pageRoutes = (deps: PagesDeps): Binding[] => [
  bind(
    routes.showAuthorizePage,
    (context) => showAuthorizePage(deps, context),
    (issues, req) => (prefersHtml(req) ? invalidQueryPage(preferredLocale(req), issues) : undefined),
  ),
  bind(routes.submitSignIn, ({ req, res, clientAddress }) =>
    answerSignInForm(deps, { req, res, source: clientAddress }, signInByForm),
  ),
  bind(routes.submitSecondFactor, ({ req, res, clientAddress }) =>
    answerSignInForm(deps, { req, res, source: clientAddress }, finishByForm),
  ),
  bind(routes.submitPasskey, ({ req, res, clientAddress }) =>
    answerSignInForm(deps, { req, res, source: clientAddress }, signInByPasskeyForm),
  ),
  bind(routes.submitSignUp, ({ req, res, clientAddress }) => submitSignUp(deps, { req, res, source: clientAddress })),
  bind(routes.submitSignOut, ({ req, res }) => submitSignOut(deps, { req, res })),
  bind(routes.submitDecision, ({ req, clientAddress }) => submitDecision(deps, { req, source: clientAddress })),
];
