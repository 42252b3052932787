import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAccountRequestSchema, type Locale } from '@svc/contracts';
import { AppError, type ReplyContent } from '@svc/service-kit';
import { createAccount } from '../../accounts/index.ts';
import {
  type SignInOrigin,
  type StartedSession,
  sessionCookies,
  signInOriginOf,
  startSession,
} from '../../sessions/index.ts';
import { createPageContext } from './page-context.ts';
import { type PageText, pageText } from './page-text.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import { authorizeFrame } from './sign-in-frame.ts';
import { type FormState, signUpPage } from './sign-in-page.ts';
import { messageFor } from './submit-sign-in.ts';

/** Opens a personal account, signs in and redirects to the authorize page, or shows the form again with its errors. */
export const submitSignUp = async (
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
