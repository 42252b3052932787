import type { IncomingMessage } from 'node:http';
import type { Locale, ValidationIssue } from '@svc/contracts';
import type { ReplyContent } from '@svc/service-kit';
import { messagePage, pageText } from '../pages/index.ts';
import type { AuthorizeFault } from './authorize-request.ts';

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

/** Renders the refusal of a decision whose code was used already: another redirect with it would end the connection. */
export const decidedPage = (locale: Locale): ReplyContent => {
  const text = pageText(locale);
  return messagePage(locale, { title: text.decidedTitle, lines: [text.decided] });
};

type MediaType = 'text/html' | 'application/json';

/**
 * Returns true if the caller prefers HTML to JSON (RFC 9110 section 12.5.1). A bare wildcard, which scripts send, is no
 * preference.
 */
export const prefersHtml = (req: IncomingMessage): boolean =>
  weightOf(req, 'text/html') > weightOf(req, 'application/json');

/** Returns true if the caller accepts JSON but not HTML. */
export const acceptsOnlyJson = (req: IncomingMessage): boolean =>
  weightOf(req, 'text/html') === 0 && weightOf(req, 'application/json') > 0;

/** Returns the weight of a type: that of the most specific range that covers it, 0 if none does. */
const weightOf = (req: IncomingMessage, type: MediaType): number => {
  const [group = ''] = type.split('/', 1);
  const weights = new Map((req.headers.accept ?? '*/*').split(',').map(readRange));
  return weights.get(type) ?? weights.get(`${group}/*`) ?? weights.get('*/*') ?? 0;
};

const readRange = (range: string): [string, number] => {
  const [type = '', ...parameters] = range.toLowerCase().split(';');
  const weight = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
  // Every JSON media type counts (RFC 6839 section 3.1).
  return [type.trim().replace(/^application\/\S+\+json$/, 'application/json'), Number(weight ?? 1)];
};
