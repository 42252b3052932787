import { type Html, html, TEXT_FONT } from '@svc/pages';
import { AppLimitError, ConnectError, ConnectionEndedError, OutcomeUnknownError, SvcError } from '@svc/partner-sdk';
import type { RequestHandler } from 'express';
import type { Texts } from './texts/en.ts';
import type { View } from './texts/view.ts';
import { formatTime } from './texts/view.ts';

/** Returns a policy without inline content, external content and framing. Scripts may call `origins`. */
export const pagePolicy = (origins: readonly string[] = []): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "font-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const POLICY = pagePolicy();

/** Sets the security headers of a page. */
export const pageHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`, which makes browsers hide the origin of a form post.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  next();
};

/**
 * Accepts only requests to this app's address (against DNS rebinding), and forms only from its pages: cookies do not
 * distinguish the ports of a host.
 */
export const ownOriginOnly =
  (origin: string): RequestHandler =>
  (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (request.headers.host !== new URL(origin).host) {
      if (isRead) response.redirect(308, `${origin}${request.originalUrl.replace(/^\/+/, '/')}`);
      else response.status(421).end();
      return;
    }
    const from = request.headers.origin;
    if (!isRead && from !== undefined && from !== origin) response.status(403).end();
    else next();
  };

interface Page {
  readonly texts: Texts;
  readonly title: string;
  readonly main: Html;
  /** The user connected in this browser. */
  readonly svcUserId?: string | undefined;
  /** Address of a further script. */
  readonly script?: string | undefined;
  /** Reloads the page after this many seconds. */
  readonly refreshSeconds?: number | undefined;
}

/** Renders the document around a page. */
export const renderPage = ({ texts, title, main, svcUserId, script, refreshSeconds }: Page): string =>
  html`<!doctype html>
<html lang="${texts.locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title} · ${texts.brand}</title>
<link rel="icon" href="data:,">
<link rel="preload" as="font" type="font/woff2" href="${TEXT_FONT.path}" crossorigin>
<link rel="stylesheet" href="/assets/tokens.css">
<link rel="stylesheet" href="/assets/sample-partner.css">
<script type="module" src="/assets/sample-partner.js"></script>
${script !== undefined && html`<script type="module" src="${script}"></script>`}
</head>
<body>
<header>
<a class="brand" href="/">${texts.brand}</a>
<nav aria-label="${texts.pages}"><a href="/">${texts.home}</a> <a href="/inbox">${texts.inbox}</a> <a href="/browser">${texts.singlePage}</a></nav>
<form class="language" method="post" action="/language"><button name="language" value="${texts.otherLanguage.code}" lang="${texts.otherLanguage.code}">${texts.otherLanguage.name}</button></form>
${
  svcUserId !== undefined &&
  html`<div class="account">
<span>${texts.connectedAs} <code id="user">${svcUserId}</code></span>
<form method="post" action="/sign-out"><button>${texts.signOut}</button></form>
<form method="post" action="/disconnect"><button>${texts.disconnect}</button></form>
</div>`
}
</header>
<main>
${main}
</main>
<footer>${texts.footer}</footer>
</body>
</html>
`.markup;

export const problemView = ({ message, action, isChoice = false }: Problem): Html => {
  const link = action !== undefined && html`<a href="${action.href}">${action.label}</a>`;
  return isChoice
    ? html`<p class="notice" role="status">${message} ${link}</p>`
    : html`<p class="problem" role="alert">${message} ${link}</p>`;
};

/** Renders a page with a problem and a link onward. */
export const renderProblemPage = (problem: Problem, texts: Texts, svcUserId?: string): string =>
  renderPage({
    texts,
    title: problem.isChoice ? texts.problem.deniedTitle : texts.problem.title,
    svcUserId,
    main: html`<h1>${problem.isChoice ? texts.problem.deniedTitle : texts.problem.heading}</h1>
${problemView(problem)}
<p><a href="/">${texts.problem.back}</a></p>`,
  });

/** Problem and next step in the user's words. */
export interface Problem {
  /** HTTP status of the response. */
  readonly status: number;
  readonly message: string;
  readonly action?: { readonly label: string; readonly href: string } | undefined;
  /** Nothing went wrong, so it is not shown as an error. */
  readonly isChoice?: boolean | undefined;
}

/** Describes an error of the SDK; rethrows any other. */
export const describeProblem = (error: unknown, { texts, serviceUrl }: View): Problem => {
  const connect = { label: texts.problem.connectAgain, href: '/connect' };
  if (error instanceof ConnectionEndedError) return { status: 401, message: texts.problem.ended, action: connect };
  if (error instanceof ConnectError && error.reason === 'denied') {
    return { status: 200, message: texts.problem.denied, action: connect, isChoice: true };
  }
  if (error instanceof ConnectError) {
    return {
      status: error.reason === 'unavailable' ? 503 : 400,
      message: connectMessage(error, texts),
      action: connect,
    };
  }
  if (!(error instanceof SvcError)) throw error;
  const status = error.status !== undefined && error.status >= 400 ? error.status : 502;
  return { status, ...callMessage(error, { texts, serviceUrl }) };
};

const connectMessage = ({ reason }: ConnectError, { problem }: Texts): string => {
  switch (reason) {
    case 'wrong_state':
      return problem.wrongState;
    default:
      return problem[reason];
  }
};

const callMessage = (error: SvcError, { texts, serviceUrl }: View): Omit<Problem, 'status'> => {
  const { problem, locale } = texts;
  const request = error.requestId === undefined ? '' : problem.request(error.requestId);
  const plans = { label: problem.openPlans, href: new URL('/plans', serviceUrl).href };
  if (error instanceof OutcomeUnknownError) {
    return { message: problem.unknown(request), action: { label: problem.openService, href: serviceUrl } };
  }
  switch (error.code) {
    case 'subscription_inactive':
      return { message: problem.inactive, action: plans };
    case 'weekly_limit_exceeded':
    case 'monthly_limit_exceeded': {
      const until = error.resetsAt === undefined ? problem.later : problem.from(formatTime(error.resetsAt, locale));
      return { message: problem.limit(until), action: plans };
    }
    case 'subscription_requests_pending':
      return { message: problem.pending };
    case 'not_implemented':
    case 'subscription_transcription_not_configured':
      return { message: problem.noTranscription };
    case 'subscription_service_not_included':
      return { message: problem.notIncluded, action: plans };
    default:
      if (error instanceof AppLimitError) {
        return {
          message: appLimitMessage(error, texts),
          action: { label: problem.changeLimit, href: error.manageUrl },
        };
      }
      // The service's message, since it has more codes than this app has texts.
      return { message: `${error.message}${error.isRetryable ? problem.tryAgain : ''}${request}` };
  }
};

const appLimitMessage = ({ code, resetsAt }: AppLimitError, { problem, locale }: Texts): string => {
  if (code === 'app_budget_expired') return problem.appExpired;
  if (code === 'connection_paused') return problem.appPaused;
  return problem.appLimit(resetsAt === undefined ? '' : problem.appLimitFrom(formatTime(resetsAt, locale)));
};

/** Renders the page shown until the app is registered. */
export const renderSetupPage = (problem: string | undefined, texts: Texts): string =>
  renderPage({
    texts,
    title: texts.setup.title,
    refreshSeconds: 2,
    main: html`<h1>${texts.setup.heading}</h1>
<p role="status">${texts.setup.text}</p>
${problem !== undefined && html`<p class="problem" role="alert">${texts.setup.problem(problem)}</p>`}`,
  });
