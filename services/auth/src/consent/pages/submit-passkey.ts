import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, type ReplyContent } from '@svc/service-kit';
import {
  pagesCookies,
  type StartedSession,
  type StartSessionDeps,
  signInOriginOf,
  signInWithPasskey,
} from '../../sessions/index.ts';
import { readAssertion } from './assertion-field.ts';
import { createPageContext } from './page-context.ts';
import { pageText } from './page-text.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';
import { authorizeFrame } from './sign-in-frame.ts';
import { EMPTY_FORM, type FormState, signInPage } from './sign-in-page.ts';
import { messageFor, type SubmittedForm } from './submit-sign-in.ts';

/** Signs in with a passkey and goes back to the authorize page, or shows sign-in again with what was wrong. */
export const submitPasskey = async (
  deps: PagesDeps,
  { req, res, source }: { req: IncomingMessage; res: ServerResponse; source: string },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { fields, form, app } = read;
  const origin = signInOriginOf({ req, clientAddress: source }, deps.publicBaseUrl);
  const outcome = await signInByPasskeyForm(deps, { fields, text: pageText(form.query.locale), origin });
  if ('refused' in outcome) {
    const context = createPageContext(deps, { ...form, app, session: undefined });
    return signInPage(authorizeFrame(context), outcome.refused);
  }
  res.appendHeader('set-cookie', pagesCookies(outcome.started, deps.publicBaseUrl));
  return backToAuthorize(deps, form);
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
