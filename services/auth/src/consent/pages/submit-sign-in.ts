import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSessionRequestSchema } from '@svc/contracts';
import { AppError, type ReplyContent } from '@svc/service-kit';
import {
  pagesCookies,
  type SignInOrigin,
  type StartedSession,
  type StartSessionDeps,
  signIn,
  signInOriginOf,
} from '../../sessions/index.ts';
import { createPageContext } from './page-context.ts';
import { type PageText, pageText } from './page-text.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import { authorizeFrame } from './sign-in-frame.ts';
import { EMPTY_FORM, type FormState, signInPage } from './sign-in-page.ts';

const SECONDS_PER_MINUTE = 60;

/** Signs in and goes back to the authorize page, or shows the form again with its errors. */
export const submitSignIn = async (
  deps: PagesDeps,
  { req, res, source }: { req: IncomingMessage; res: ServerResponse; source: string },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, form, app } = read;
  const origin = signInOriginOf({ req, clientAddress: source }, deps.publicBaseUrl);
  const outcome = await signInByForm(deps, { fields, text: pageText(form.query.locale), origin });
  if ('refused' in outcome) {
    const context = createPageContext(deps, { ...form, app, session: undefined });
    return signInPage(authorizeFrame(context), outcome.refused);
  }
  res.appendHeader('set-cookie', pagesCookies(outcome.started, deps.publicBaseUrl));
  return backToAuthorize(deps, form);
};

/** Signs in with the fields of a sign-in form. Returns the form with its errors if that is refused. */
export const signInByForm = async (
  deps: StartSessionDeps,
  { fields, text, origin }: { fields: URLSearchParams; text: PageText; origin: SignInOrigin },
): Promise<{ started: StartedSession } | { refused: FormState }> => {
  const email = fields.get('email') ?? '';
  const credentials = createSessionRequestSchema.safeParse({ email, password: fields.get('password') ?? '' });
  try {
    if (!credentials.success) throw new AppError('invalid_credentials');
    return { started: await signIn(deps, credentials.data, origin) };
  } catch (error) {
    const message = messageFor(error, text);
    if (message === undefined) throw error;
    return { refused: { ...EMPTY_FORM, email, errors: { form: message } } };
  }
};

/** Returns the text for a refusal, or undefined for a failure. */
export const messageFor = (error: unknown, text: PageText): string | undefined => {
  if (!(error instanceof AppError)) return undefined;
  switch (error.code) {
    case 'invalid_credentials':
      return text.wrongPassword;
    case 'too_many_attempts':
      return text.tooMany(Math.ceil(Number(error.headers['retry-after'] ?? SECONDS_PER_MINUTE) / SECONDS_PER_MINUTE));
    case 'service_unavailable':
      return text.unavailable;
    default:
      return undefined;
  }
};
