import type { IncomingMessage, ServerResponse } from 'node:http';
import { secondFactorRequestSchema } from '@svc/contracts';
import { AppError, type ReplyContent } from '@svc/service-kit';
import type { FactorClaim } from '../../factors/index.ts';
import { finishSignIn, pagesCookies, readDeviceToken } from '../../sessions/index.ts';
import { createPageContext } from './page-context.ts';
import { pageText } from './page-text.ts';
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
  try {
    const claim = readClaim(challenge, fields.get('code') ?? '');
    const deviceToken = readDeviceToken(req.headers, deps.publicBaseUrl);
    const started = await finishSignIn(deps, { challenge, claim }, { source, deviceToken });
    res.appendHeader('set-cookie', pagesCookies(started, deps.publicBaseUrl));
    return backToAuthorize(deps, form);
  } catch (error) {
    const message = messageFor(error, pageText(form.query.locale));
    if (message === undefined) throw error;
    const context = createPageContext(deps, { ...form, app, session: undefined });
    const isOver = error instanceof AppError && error.code === 'challenge_invalid';
    if (isOver) return signInPage(context, { email: '', displayName: '', errors: { form: message } });
    return secondFactorPage(context, { challenge, error: message });
  }
};

/** Throws `invalid_second_factor` for texts that the contract refuses. */
const readClaim = (challenge: string, code: string): FactorClaim => {
  const isTotp = TOTP_CODE.test(code);
  const parsed = secondFactorRequestSchema.safeParse({ challenge, [isTotp ? 'code' : 'recovery_code']: code });
  if (!parsed.success) throw new AppError('invalid_second_factor');
  return isTotp ? { code } : { recoveryCode: code };
};
