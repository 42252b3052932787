import type { IncomingMessage, ServerResponse } from 'node:http';
import { routes } from '@svc/contracts';
import { type Binding, bind, type ReplyContent } from '@svc/service-kit';
import {
  finishByForm,
  pageText,
  preferredLocale,
  type SignInOutcome,
  type SubmittedForm,
  secondFactorPage,
  signInByForm,
  signInByPasskeyForm,
  signInPage,
  signUpByForm,
  signUpPage,
} from '../pages/index.ts';
import {
  clearedSessionCookies,
  endSession,
  findBrowserSession,
  readPagesCookie,
  type StartSessionDeps,
  sessionCookies,
  signInOriginOf,
} from '../sessions/index.ts';
import { backToAuthorize, readForm, showAuthorizePage } from './authorize-page.ts';
import { invalidQueryPage, prefersHtml } from './fault-pages.ts';
import { authorizeFrame, createPageContext, type PagesDeps } from './page-context.ts';
import { submitDecision } from './submit-decision.ts';

/** Signs in with a form and redirects to the authorize page, or shows the next step. */
const answerSignInForm = async (
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
