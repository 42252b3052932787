import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { SIGNED_IN_COOKIE } from '@svc/contracts';
import type { Publication } from '@svc/pages';
import type { Asset } from './asset-store.ts';
import { landingPage, missingPage } from './landing.ts';

/** Pages of the single-page application, which leads to the sign-in where that is needed. */
const CONSOLE_PAGES =
  /^\/(?:account|plans|connections|keys|wallet|usage|apps|o|organization|invitations|verify|reset-password|verify-email|confirm-email|undo-email|cancel-deletion)(?:\/|$)/;

/** A page for visitors who are not signed in. */
export interface PublicPage {
  readonly asset: Asset;
  readonly status: 200 | 404;
}

/** Returns the page for a visitor who is not signed in; undefined where the single-page application answers. */
export type FindPublicPage = (req: IncomingMessage, path: string) => PublicPage | undefined;

/** Renders the public pages once for each language. */
export const createPublicPages = (publication: Publication, { isHttps }: { isHttps: boolean }): FindPublicPage => {
  const render = (page: typeof landingPage) => ({
    en: toAsset(page('en', publication)),
    it: toAsset(page('it', publication)),
  });
  const landing = render(landingPage);
  const missing = render(missingPage);
  const cookie = new RegExp(`(?:^|;\\s*)${isHttps ? '__Host-' : ''}${SIGNED_IN_COOKIE}=1`);
  return (req, path) => {
    if (CONSOLE_PAGES.test(path) || cookie.test(req.headers.cookie ?? '')) return undefined;
    const locale = localeOf(req);
    return path === '/' ? { asset: landing[locale], status: 200 } : { asset: missing[locale], status: 404 };
  };
};

/** Returns the language of the query, else the browser's first one of ours, else Italian. */
const localeOf = ({ url = '/', headers }: IncomingMessage): 'en' | 'it' => {
  const chosen = new URLSearchParams(url.split('?', 2)[1]).get('locale');
  const asked = [chosen ?? '', ...(headers['accept-language'] ?? '').split(',')];
  for (const tag of asked) {
    const name = tag.trim().slice(0, 2).toLowerCase();
    if (name === 'en' || name === 'it') return name;
  }
  return 'it';
};

const toAsset = (text: string): Asset => {
  const plain = Buffer.from(text);
  return {
    contentType: 'text/html; charset=utf-8',
    digest: hash('sha256', plain, 'base64url').slice(0, 22),
    isImmutable: false,
    plain,
    encoded: new Map([['gzip', gzipSync(plain)]]),
  };
};
