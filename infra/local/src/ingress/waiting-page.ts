import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

const RELOAD_SECONDS = 2;
const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; padding: 1rem; background: light-dark(#f6f7f9, #101319); color: light-dark(#171b24, #e8ebf1); }
main { max-width: 30rem; }
h1 { font-size: 1.375rem; margin: 0 0 0.5rem; }
p { margin: 0 0 0.75rem; }
a { color: light-dark(#3a4fd0, #a4b2ff); }
`;
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${RELOAD_SECONDS}">
<title>One moment · svc</title>
<style>${STYLE}</style>
<main>
<h1>The console is on its way</h1>
<p>svc is running. Its pages are being built, which takes half a minute after a change: this page loads again by itself.</p>
<p>The API answers already, for example <a href="/v1/subscriptions/plans">/v1/subscriptions/plans</a> and
<a href="/v1/openapi.json">/v1/openapi.json</a>.</p>
</main>
</html>
`;
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-length': Buffer.byteLength(PAGE),
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'retry-after': String(RELOAD_SECONDS),
};

/** Tells a browser that the console's pages are not there yet, and has it look again. */
export const answerWaiting = (res: ServerResponse): void => {
  res.writeHead(503, HEADERS).end(PAGE);
};
