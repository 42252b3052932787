import type { ServerResponse } from 'node:http';

const LINKS: readonly (readonly [path: string, what: string])[] = [
  ['/docs', 'guides for partners, gateway users and operators, and the API reference'],
  ['/v1/openapi.json', 'the API as an OpenAPI 3.1 document'],
  ['/.well-known/openid-configuration', 'OAuth endpoints, for a stock client library'],
  ['/v1/subscriptions/plans', 'plans on offer'],
];

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>svc</title>
<h1>svc is running</h1>
<p>Delegated inference and application integration. What is here:</p>
<ul>
${LINKS.map(([path, what]) => `<li><a href="${path}">${path}</a>: ${what}</li>`).join('\n')}
</ul>
<p>The README has a tour of three minutes.</p>
</html>
`;

/** Says at the root what is here: a page for browsers, plain JSON for those who ask for it. */
export const answerWelcome = (res: ServerResponse, accept: string | undefined): void => {
  const wantsJson = (accept ?? '').includes('application/json');
  const links = Object.fromEntries(LINKS.map(([path, what]) => [path, what]));
  const body = wantsJson ? JSON.stringify({ name: 'svc', links }) : PAGE;
  res.writeHead(200, {
    'content-type': wantsJson ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    vary: 'accept',
  });
  res.end(body);
};
