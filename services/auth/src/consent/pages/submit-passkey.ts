import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, type ReplyContent } from '@svc/service-kit';
import { pagesCookies, readDeviceToken, signInWithPasskey } from '../../sessions/index.ts';
import { readAssertion } from './assertion-field.ts';
import { createPageContext } from './page-context.ts';
import { pageText } from './page-text.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import { signInPage } from './sign-in-page.ts';
import { messageFor } from './submit-sign-in.ts';

/** Signs in with a passkey and goes back to the authorize page, or shows sign-in again with what was wrong. */
export const submitPasskey = async (
  deps: PagesDeps,
  { req, res, source }: { req: IncomingMessage; res: ServerResponse; source: string },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, form, app } = read;
  try {
    const assertion = readAssertion(fields.get('assertion') ?? '');
    if (assertion === undefined) throw new AppError('invalid_passkey');
    const deviceToken = readDeviceToken(req.headers, deps.publicBaseUrl);
    const started = await signInWithPasskey(deps, assertion, { source, deviceToken });
    res.appendHeader('set-cookie', pagesCookies(started, deps.publicBaseUrl));
    return backToAuthorize(deps, form);
  } catch (error) {
    const message = messageFor(error, pageText(form.query.locale));
    if (message === undefined) throw error;
    const context = createPageContext(deps, { ...form, app, session: undefined });
    return signInPage(context, { email: '', displayName: '', errors: { form: message } });
  }
};
