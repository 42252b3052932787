import type { IncomingMessage, ServerResponse } from 'node:http';
import { createAccountRequestSchema } from '@svc/contracts';
import { AppError, type ReplyContent } from '@svc/service-kit';
import { type AccountRecord, createAccount } from '../../accounts/index.ts';
import { pagesCookies, signInOriginOf, startSession } from '../../sessions/index.ts';
import { createPageContext } from './page-context.ts';
import { type PageText, pageText } from './page-text.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import { type FormState, signInPage, signUpPage } from './sign-in-page.ts';
import { messageFor } from './submit-sign-in.ts';

/** Makes a personal account, signs it in and goes back to the authorize page, or shows the form again with what was wrong. */
export const submitSignUp = async (
  deps: PagesDeps,
  { req, res, source }: { req: IncomingMessage; res: ServerResponse; source: string },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, form, app } = read;
  const state = { email: fields.get('email') ?? '', displayName: fields.get('display_name') ?? '' };
  const outcome = await signUp(deps, {
    ...state,
    password: fields.get('password') ?? '',
    locale: form.query.locale,
    source,
  });
  if ('errors' in outcome) {
    const context = createPageContext(deps, { ...form, app, session: undefined });
    return signUpPage(context, { ...state, errors: outcome.errors });
  }
  const origin = signInOriginOf({ req, clientAddress: source }, deps.publicBaseUrl);
  try {
    const started = await startSession(deps, outcome.account, origin);
    res.appendHeader('set-cookie', pagesCookies(started, deps.publicBaseUrl));
    return backToAuthorize(deps, form);
  } catch (error) {
    // The address is taken, which only its mailbox tells.
    if (!(error instanceof AppError) || error.code !== 'invalid_credentials') throw error;
    const context = createPageContext(deps, { ...form, app, session: undefined });
    return signInPage(context, { ...state, errors: { form: context.text.checkMail } });
  }
};

interface SignUp {
  readonly email: string;
  readonly displayName: string;
  readonly password: string;
  readonly locale: 'it' | 'en';
  readonly source: string;
}

type Outcome = { account: AccountRecord } | { errors: FormState['errors'] };

const signUp = async (deps: PagesDeps, input: SignUp): Promise<Outcome> => {
  const text = pageText(input.locale);
  const { email, password, locale } = input;
  const displayName = input.displayName.trim() === '' ? null : input.displayName;
  const parsed = createAccountRequestSchema.safeParse({
    email: email.trim(),
    password,
    locale,
    account_type: 'personal',
    display_name: displayName,
  });
  if (!parsed.success) return { errors: errorsOf(parsed.error.issues, text) };
  try {
    const account = await createAccount(
      deps,
      {
        email: parsed.data.email,
        password,
        locale,
        accountType: 'personal',
        businessName: null,
        displayName: parsed.data.display_name ?? null,
      },
      input.source,
    );
    return { account };
  } catch (error) {
    const errors = errorsFor(error, text);
    if (errors === undefined) throw error;
    return { errors };
  }
};

const errorsOf = (issues: readonly { path: readonly PropertyKey[] }[], text: PageText): FormState['errors'] => {
  const has = (name: string): boolean => issues.some(({ path }) => path[0] === name);
  return {
    ...(has('email') ? { email: text.emailInvalid } : {}),
    ...(has('password') ? { password: text.passwordLength } : {}),
    ...(has('display_name') ? { displayName: text.nameLength } : {}),
  };
};

const errorsFor = (error: unknown, text: PageText): FormState['errors'] | undefined => {
  if (error instanceof AppError && error.code === 'email_taken') return { email: text.emailTaken };
  // The only field that signing up judges beyond the contract.
  if (error instanceof AppError && error.issues !== undefined) return { password: text.passwordCommon };
  const message = messageFor(error, text);
  return message === undefined ? undefined : { form: message };
};
