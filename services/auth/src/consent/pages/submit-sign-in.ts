import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSessionRequestSchema } from '@svc/contracts';
import { AppError, type ReplyContent } from '@svc/service-kit';
import { pagesCookies, readDeviceToken, reopenChallenge, signIn } from '../../sessions/index.ts';
import { createPageContext } from './page-context.ts';
import { type PageText, pageText } from './page-text.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import { secondFactorPage } from './second-factor-page.ts';
import { signInPage } from './sign-in-page.ts';

const SECONDS_PER_MINUTE = 60;

/** Signs in and goes back to the authorize page, or shows the form again with what was wrong. */
export const submitSignIn = async (
  deps: PagesDeps,
  { req, res, source }: { req: IncomingMessage; res: ServerResponse; source: string },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, form, app } = read;
  const email = fields.get('email') ?? '';
  const credentials = createSessionRequestSchema.safeParse({ email, password: fields.get('password') ?? '' });
  try {
    if (!credentials.success) throw new AppError('invalid_credentials');
    const deviceToken = readDeviceToken(req.headers, deps.publicBaseUrl);
    const started = await signIn(deps, credentials.data, { source, deviceToken });
    res.appendHeader('set-cookie', pagesCookies(started, deps.publicBaseUrl));
    return backToAuthorize(deps, form);
  } catch (error) {
    if (error instanceof AppError && error.code === 'second_factor_required') {
      const context = createPageContext(deps, { ...form, app, session: undefined });
      const step = await reopenChallenge(deps, String(error.details['challenge']));
      return secondFactorPage(context, { step });
    }
    const message = messageFor(error, pageText(form.query.locale));
    if (message === undefined) throw error;
    const context = createPageContext(deps, { ...form, app, session: undefined });
    return signInPage(context, { email, displayName: '', errors: { form: message } });
  }
};

/** What a person is told of a refusal, or undefined where it is no refusal but a failure. */
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
    case 'service_unavailable':
      return text.unavailable;
    default:
      return undefined;
  }
};
