import { hash } from 'node:crypto';
import type { Locale } from '@svc/contracts';
import type { ReplyContent } from '@svc/service-kit';
import { Html, html } from './html.ts';

const STYLE = `
:root{color-scheme:light dark;--back:#f4f5f7;--card:#fff;--text:#16181d;--soft:#565c68;--line:#d5d9e0;--accent:#1d4ed8;--on:#fff;--bad:#b3141c;--badback:#fdecec}
@media (prefers-color-scheme:dark){:root{--back:#111318;--card:#1b1e25;--text:#eceef2;--soft:#a6adba;--line:#3a404c;--accent:#8ab4ff;--on:#0c1220;--bad:#ff9a9a;--badback:#3a1c1f}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif;display:flex;min-height:100vh;align-items:center;justify-content:center}
main{width:100%;max-width:27rem;margin:1rem;padding:1.75rem;background:var(--card);border:1px solid var(--line);border-radius:14px}
h1{font-size:1.3rem;line-height:1.3;margin:0 0 .35rem;overflow-wrap:anywhere}
p{margin:.35rem 0}.soft{color:var(--soft);font-size:.92rem}.wrap{overflow-wrap:anywhere}
.icon{width:56px;height:56px;border-radius:12px;display:block;margin-bottom:.9rem;object-fit:contain}
ul.scopes{list-style:none;margin:.6rem 0;padding:0;border-top:1px solid var(--line)}
ul.scopes li{padding:.65rem 0;border-bottom:1px solid var(--line)}ul.scopes strong{display:block;font-weight:600}
label{display:block;font-weight:600;margin:.9rem 0 .25rem}
input{width:100%;font:inherit;color:inherit;background:transparent;padding:.6rem .7rem;border:1px solid var(--soft);border-radius:8px}
input[aria-invalid=true]{border-color:var(--bad)}
button{font:inherit;font-weight:600;width:100%;padding:.7rem 1rem;border-radius:8px;border:1px solid var(--accent);background:var(--accent);color:var(--on);cursor:pointer;margin-top:1rem}
button.second{background:transparent;color:var(--text);border-color:var(--soft);margin-top:.6rem}
button.link{width:auto;padding:0;margin:0;border:0;background:none;color:var(--accent);text-decoration:underline;font-weight:400}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.alert{background:var(--badback);color:var(--bad);border-radius:8px;padding:.6rem .8rem;margin:.8rem 0}
.who{display:flex;flex-wrap:wrap;gap:.15rem .6rem;align-items:baseline;margin-top:.9rem}.who form{display:inline}
footer{margin-top:1.3rem;padding-top:.8rem;border-top:1px solid var(--line);display:flex;flex-wrap:wrap;gap:.3rem 1rem;font-size:.9rem}
`;

/** The one style of all pages, allowed by its hash: nothing else may style them, and nothing at all may script them. */
const STYLE_SOURCE = `'sha256-${hash('sha256', STYLE, 'base64')}'`;

/** A page to show. */
export interface Page {
  locale: Locale;
  title: string;
  content: Html;
  /** Where forms may lead beside us: the redirect that follows one counts too (CSP 3 section 6.4.2). */
  formTarget?: string;
}

/** Makes the answer of a page: no script, no outside resource, in nobody's frame, kept by no cache. */
export const renderPage = (status: 200 | 400, page: Page): ReplyContent => ({
  status,
  contentType: 'text/html; charset=utf-8',
  body: toDocument(page).markup,
  headers: {
    'cache-control': 'no-store',
    'content-language': page.locale,
    'content-security-policy': contentSecurityPolicy(page.formTarget),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    // Pages in two languages at one address, and a person's own.
    vary: 'Cookie, Accept',
  },
});

const contentSecurityPolicy = (formTarget: string | undefined): string =>
  [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    'img-src data:',
    `form-action 'self'${formTarget === undefined ? '' : ` ${formTarget}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');

const toDocument = ({ locale, title, content }: Page): Html => html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
