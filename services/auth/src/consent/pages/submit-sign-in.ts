import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSessionRequestSchema } from '@svc/contracts';
import { AppError, type ReplyContent } from '@svc/service-kit';
import {
  reopenChallenge,
  type SignInOrigin,
  type StartedSession,
  type StartSessionDeps,
  sessionCookies,
  signIn,
  signInOriginOf,
} from '../../sessions/index.ts';
import { createPageContext, type PageText, pageText } from './page-context.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import { type AskedStep, secondFactorPage } from './second-factor-page.ts';
import { authorizeFrame } from './sign-in-frame.ts';
import { EMPTY_FORM, type FormState, signInPage } from './sign-in-page.ts';

const SECONDS_PER_MINUTE = 60;

/** Result of a sign-in form: the session, the second step, or the form with its errors. */
export type SignInOutcome = { started: StartedSession } | AskedStep | { refused: FormState };

/** Signs in with a form and redirects to the authorize page, or shows the next step. */
export const answerSignInForm = async (
  deps: PagesDeps,
  { req, res, source }: { req: IncomingMessage; res: ServerResponse; source: string },
  signInBy: (deps: StartSessionDeps, form: SubmittedForm) => Promise<SignInOutcome>,
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, form, app } = read;
  const origin = signInOriginOf({ req, clientAddress: source }, deps.publicBaseUrl);
  const outcome = await signInBy(deps, { fields, text: pageText(form.query.locale), origin });
  if ('started' in outcome) {
    res.appendHeader('set-cookie', sessionCookies(outcome.started, deps.publicBaseUrl));
    return backToAuthorize(deps, form);
  }
  const frame = authorizeFrame(createPageContext(deps, { ...form, app, session: undefined }));
  return 'step' in outcome ? secondFactorPage(frame, outcome) : signInPage(frame, outcome.refused);
};

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
