import type { IncomingMessage } from 'node:http';
import type { CheckoutNotice, PortalNotice } from '@svc/contracts';
import { AppError, type Reply } from '@svc/service-kit';
import { missingPage } from './page.ts';
import { type Locale, languageOf } from './page-language.ts';

/** Redirects the browser. Headers are ASCII, so a URL with other characters is encoded. All others stay as they are. */
export const seeOther = (url: string): Reply => {
  const location = /^[\x21-\x7e]*$/.test(url) ? url : new URL(url).href;
  return { status: 303, headers: { location } };
};

export const pageUrl = (
  path: string,
  {
    locale,
    notice,
  }: { readonly locale: Locale | undefined; readonly notice?: CheckoutNotice | PortalNotice | undefined },
): string => {
  const query = new URLSearchParams();
  if (locale !== undefined) query.set('locale', locale);
  if (notice !== undefined) query.set('notice', notice);
  return query.size === 0 ? path : `${path}?${query}`;
};

/** Replies for a page that never existed or has expired: a page to browsers, an error to programs. */
export const replyToMissing = (req: IncomingMessage, locale: Locale | undefined): Reply => {
  if (!isBrowser(req)) throw new AppError('not_found');
  return missingPage(languageOf(req, locale));
};

/** Sends a form whose page has expired back to that page, which says so. */
export const replyToLostForm = (req: IncomingMessage, page: string): Reply => {
  if (!isBrowser(req)) throw new AppError('not_found');
  return seeOther(page);
};

const isBrowser = ({ headers }: IncomingMessage): boolean => /\btext\/html\b/i.test(headers.accept ?? '');
