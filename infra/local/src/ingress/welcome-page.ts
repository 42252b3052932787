import type { ServerResponse } from 'node:http';
import { html, pagePolicy, renderPage } from '@svc/pages';
import { PAGE_STYLE } from './page-style.ts';

const LINKS: readonly (readonly [path: string, description: string])[] = [
  ['/docs', 'guides for partners, gateway users and operators, and the API reference'],
  ['/v1/openapi.json', 'the API as an OpenAPI 3.1 document'],
  ['/.well-known/openid-configuration', 'OAuth endpoints, for a stock client library'],
  ['/v1/subscriptions/plans', 'plans on offer'],
];

const PAGE = renderPage({
  locale: 'en',
  title: 'Welcome',
  style: PAGE_STYLE,
  body: html`<main>
<h1>svc is running</h1>
<p>Delegated inference and application integration. Start here:</p>
<ul>
${LINKS.map(([path, description]) => html`<li><a href="${path}">${path}</a>: ${description}</li>\n`)}</ul>
<p>The README has a tour of three minutes.</p>
</main>`,
});

/** Answers the root with links to the API: a page for browsers, JSON for clients that accept it. */
export const answerWelcome = (res: ServerResponse, accept: string | undefined): void => {
  const wantsJson = (accept ?? '').includes('application/json');
  const links = Object.fromEntries(LINKS.map(([path, description]) => [path, description]));
  const body = wantsJson ? JSON.stringify({ name: 'svc', links }) : PAGE;
  res.writeHead(200, {
    'content-type': wantsJson ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'content-security-policy': pagePolicy(PAGE_STYLE),
    'x-content-type-options': 'nosniff',
    vary: 'accept',
  });
  res.end(body);
};
