import type { ServerResponse } from 'node:http';
import { html, pagePolicy, renderPage } from '@svc/pages';
import { PAGE_STYLE } from './page-style.ts';

const RELOAD_SECONDS = 2;
const PAGE = renderPage({
  locale: 'en',
  title: 'One moment',
  style: PAGE_STYLE,
  refreshSeconds: RELOAD_SECONDS,
  body: html`<main>
<h1>The console is starting</h1>
<p>Its pages take up to half a minute after a change. This page reloads by itself.</p>
<p>The API answers without it, for example <a href="/v1/subscriptions/plans">/v1/subscriptions/plans</a> and
<a href="/v1/openapi.json">/v1/openapi.json</a>.</p>
</main>`,
});
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-length': Buffer.byteLength(PAGE),
  'content-security-policy': pagePolicy(PAGE_STYLE),
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'retry-after': String(RELOAD_SECONDS),
};

/** Answers 503 with a page that reloads until the console is built. */
export const answerWaiting = (res: ServerResponse): void => {
  res.writeHead(503, HEADERS).end(PAGE);
};
