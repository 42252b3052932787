import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { prefersHtml } from './accepted-type.ts';
import { invalidQueryPage } from './message-pages.ts';
import type { PagesDeps } from './pages-deps.ts';
import { preferredLocale } from './preferred-locale.ts';
import { showAuthorizePage } from './show-authorize-page.ts';
import { submitDecision } from './submit-decision.ts';
import { signInByPasskeyForm } from './submit-passkey.ts';
import { finishByForm } from './submit-second-factor.ts';
import { answerSignInForm, signInByForm } from './submit-sign-in.ts';
import { submitSignOut } from './submit-sign-out.ts';
import { submitSignUp } from './submit-sign-up.ts';

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
