import type { IncomingMessage, ServerResponse } from 'node:http';
import { secondFactorRequestSchema } from '@svc/contracts';
import { AppError, type ReplyContent } from '@svc/service-kit';
import type { FactorClaim } from '../../factors/index.ts';
import { finishSignIn, pagesCookies, readDeviceToken, reopenChallenge, type SecondStep } from '../../sessions/index.ts';
import { readAssertion } from './assertion-field.ts';
import { createPageContext } from './page-context.ts';
import { type PageText, pageText } from './page-text.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import { secondFactorPage } from './second-factor-page.ts';
import { signInPage } from './sign-in-page.ts';
import { messageFor } from './submit-sign-in.ts';

/** A code of an authenticator app, with the blanks that some apps show. Anything else is taken for a recovery code. */
const TOTP_CODE = /^\s*(\d\s*){6}$/;

/** Completes a sign-in with a second factor, or shows the step again with what was wrong. */
export const submitSecondFactor = async (
  deps: PagesDeps,
  { req, res, source }: { req: IncomingMessage; res: ServerResponse; source: string },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, form, app } = read;
  const challenge = fields.get('challenge') ?? '';
  const text = pageText(form.query.locale);
  try {
    const claim = readClaim(challenge, fields);
    const deviceToken = readDeviceToken(req.headers, deps.publicBaseUrl);
    const started = await finishSignIn(deps, { challenge, claim }, { source, deviceToken });
    res.appendHeader('set-cookie', pagesCookies(started, deps.publicBaseUrl));
    return backToAuthorize(deps, form);
  } catch (error) {
    const message = messageFor(error, text);
    if (message === undefined) throw error;
    const context = createPageContext(deps, { ...form, app, session: undefined });
    const again = await askAgain(deps, { challenge, message, text });
    if ('step' in again) return secondFactorPage(context, again);
    return signInPage(context, { email: '', displayName: '', errors: { form: again.error } });
  }
};

/** Returns the step with its error, or the error alone if the challenge is over. */
const askAgain = async (
  deps: PagesDeps,
  { challenge, message, text }: { challenge: string; message: string; text: PageText },
): Promise<{ step: SecondStep; error: string } | { error: string }> => {
  try {
    return { step: await reopenChallenge(deps, challenge), error: message };
  } catch (error) {
    if (error instanceof AppError && error.code === 'challenge_invalid') return { error: text.challengeOver };
    throw error;
  }
};

/** Throws `invalid_second_factor` for what the contract refuses. */
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
