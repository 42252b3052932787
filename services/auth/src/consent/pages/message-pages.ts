import type { Locale, ValidationIssue } from '@svc/contracts';
import { html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import type { AuthorizeFault } from '../authorize-request.ts';
import { pageText } from './page-context.ts';
import { type PageStatus, renderPage } from './page-layout.ts';

interface Message {
  readonly title: string;
  readonly lines: readonly string[];
  /** Faults for the app's developers. */
  readonly faults?: readonly string[];
  readonly status?: PageStatus;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Renders a page of a few lines. */
export const messagePage = (locale: Locale, { title, lines, faults, status = 400, headers }: Message): ReplyContent => {
  const content = html`<h1>${title}</h1>${lines.map((line) => html`<p>${line}</p>`)}
${faults === undefined ? undefined : html`<ul class="soft faults" lang="en">${faults.map((fault) => html`<li class="wrap">${fault}</li>`)}</ul>`}`;
  return renderPage(status, { locale, title, content, headers });
};

/** Renders the page for a malformed query, with its faults but without the sent values. */
export const invalidQueryPage = (locale: Locale, issues: readonly ValidationIssue[]): ReplyContent => {
  const text = pageText(locale);
  const faults = issues.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`);
  return messagePage(locale, {
    title: text.errorTitle,
    lines: [text.invalidQuery, text.errorHint],
    faults,
    status: 422,
  });
};

export type PageFault = AuthorizeFault | 'pushed_request_unknown';

/** Renders the reason why an app cannot ask. It does not redirect, because the app's redirect URI is not trusted. */
export const faultPage = (locale: Locale, fault: PageFault): ReplyContent => {
  const text = pageText(locale);
  const reasons: Readonly<Record<PageFault, string>> = {
    unknown_app: text.unknownApp,
    app_inactive: text.inactiveApp,
    pushed_request_required: text.pushRequired,
    pushed_request_unknown: text.pushUnknown,
    redirect_uri_not_registered: text.redirectNotRegistered,
    unknown_scope: text.unknownScope,
    invalid_authorization_details: text.invalidDetails,
  };
  return messagePage(locale, { title: text.errorTitle, lines: [reasons[fault], text.errorHint] });
};

/** Renders the refusal of a form that was not made for this browser. */
export const refusedFormPage = (locale: Locale): ReplyContent => {
  const text = pageText(locale);
  return messagePage(locale, { title: text.errorTitle, lines: [text.formRefused, text.formHint] });
};

/** Renders the refusal of a decision whose code was used already: another redirect with it would end the connection. */
export const decidedPage = (locale: Locale): ReplyContent => {
  const text = pageText(locale);
  return messagePage(locale, { title: text.decidedTitle, lines: [text.decided] });
};

/** Renders the page for a decision that did not reach billing. Nothing has changed. */
export const unavailablePage = (locale: Locale): ReplyContent => {
  const text = pageText(locale);
  return messagePage(locale, { title: text.errorTitle, lines: [text.unavailable], status: 503 });
};
