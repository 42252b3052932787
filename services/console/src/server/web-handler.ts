import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { errorCodes, idPattern, newId } from '@svc/contracts';
import {
  acceptedEncodings,
  findHeadFault,
  followsRefusedHead,
  type Logger,
  type Metrics,
  toOriginForm,
} from '@svc/service-kit';
import { type Asset, type AssetStore, type Encoding, INDEX_PATH } from './asset-store.ts';
import { SITE_POLICY } from './landing.ts';
import type { FindPublicPage, PublicPage } from './public-pages.ts';

/**
 * Allows our files and our API only. Icons are `data:` URLs because reading them requires the session's bearer token.
 * With Trusted Types, no text can become a script; the one policy allows workers from this origin's files. `style`
 * attributes are not used: scripts may set single properties instead.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svc-workers',
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

const HSTS = 'max-age=31536000';

export interface WebHandlerOptions {
  readonly assets: AssetStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** True if the product's base URL is https, which browsers must keep using. */
  readonly isHttps: boolean;
  /** Pages for visitors who are not signed in. */
  readonly findPublicPage: FindPublicPage;
  /** Address of a sample app that people can connect; undefined if none runs. */
  readonly sampleAppUrl: string | undefined;
}

/** The documentation is below this path: separate pages, without the console's script. */
const DOCS_PATH = '/docs';
/** Leads to the sample app, or to the guide on how to build one. */
const SAMPLE_APP_PATH = '/sample-app';
const REQUEST_ID = idPattern('req');
const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The console is not built</title>
<h1>The console is not built</h1>
<p>Run <code>npx pnpm --filter @svc/console build</code>, then reload this page. The API works without it.</p>
</html>
`;

/** Kind of a request, for logs and metrics. Never its path, which any caller can choose. */
type Operation = 'page' | 'asset' | 'unmatched';

/** Serves built files, and the single page at every address that a browser navigates to. */
export const createWebHandler =
  (options: WebHandlerOptions): RequestListener =>
  (req, res) => {
    if (followsRefusedHead(req)) return;
    toOriginForm(req);
    const startedAt = process.hrtime.bigint();
    const incoming = req.headers['x-request-id'];
    const requestId = typeof incoming === 'string' && REQUEST_ID.test(incoming) ? incoming : newId('req');
    res.setHeader('X-Request-Id', requestId);
    setSecurityHeaders(res, options.isHttps);
    let operation: Operation = 'unmatched';
    res.once('close', () => {
      const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
      const method = req.method ?? '';
      options.metrics.observeRequest({ operation, method, status: res.statusCode, seconds });
      const fields = { request_id: requestId, operation, method, status: res.statusCode };
      options.logger.info({ ...fields, duration_ms: Math.round(seconds * 1000) }, 'request');
    });
    answer(req, res, options).then(
      (answered) => {
        operation = answered;
      },
      (error: unknown) => {
        options.logger.error({ request_id: requestId, err: error }, 'request failed');
        if (res.headersSent) res.destroy();
        else answerError(res, 500, { code: 'internal_error', message: 'Something failed on our side.' });
      },
    );
  };

const answer = async (
  req: IncomingMessage,
  res: ServerResponse,
  { assets, findPublicPage, sampleAppUrl }: WebHandlerOptions,
): Promise<Operation> => {
  const fault = findHeadFault(req);
  if (fault !== undefined) {
    const { status, description } = errorCodes[fault];
    res.setHeader('Connection', 'close');
    answerError(res, status, { code: fault, message: description });
    return 'unmatched';
  }
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    res.setHeader('Allow', 'GET, HEAD');
    answerError(res, 405, { code: 'method_not_allowed', message: 'Pages are only read.' });
    return 'unmatched';
  }
  const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
  if (path === SAMPLE_APP_PATH) {
    answerSampleApp(req, res, sampleAppUrl);
    return 'page';
  }
  const asset = await assets.find(path);
  if (asset !== undefined) {
    answerAsset(req, res, asset);
    return 'asset';
  }
  if (isBelowDocs(path) && (await assets.isBuilt())) return await answerDocs(req, res, { assets, path });
  if (!isNavigation(req, path)) {
    answerError(res, 404, { code: 'not_found', message: 'There is nothing at this path.' });
    return 'unmatched';
  }
  const page = await assets.find(INDEX_PATH);
  const publicPage = findPublicPage(req, path);
  if (page === undefined) answerNotBuilt(res);
  else if (publicPage === undefined) answerAsset(req, res, page, { vary: 'Accept-Encoding, Cookie' });
  else answerPublicPage(req, res, publicPage);
  return publicPage?.status === 404 ? 'unmatched' : 'page';
};

const answerPublicPage = (req: IncomingMessage, res: ServerResponse, { asset, status }: PublicPage): void => {
  res.setHeader('Content-Security-Policy', SITE_POLICY);
  answerAsset(req, res, asset, { status, vary: 'Accept-Encoding, Accept-Language, Cookie' });
};

const answerSampleApp = (req: IncomingMessage, res: ServerResponse, sampleAppUrl: string | undefined): void => {
  const isItalian = new URLSearchParams(req.url?.split('?', 2)[1]).get('locale') === 'it';
  res.setHeader('Cache-Control', 'no-store');
  res.writeHead(302, { Location: sampleAppUrl ?? `${DOCS_PATH}${isItalian ? '/it' : ''}/quick-start` }).end();
};

const isBelowDocs = (path: string): boolean => path === DOCS_PATH || path.startsWith(`${DOCS_PATH}/`);

/** Serves a page of the documentation at its address without an extension, or a 404 with a link back. */
const answerDocs = async (
  req: IncomingMessage,
  res: ServerResponse,
  { assets, path }: { assets: AssetStore; path: string },
): Promise<Operation> => {
  const page = await assets.find(`${path.replace(/\/$/, '')}.html`);
  if (page !== undefined) {
    answerAsset(req, res, page);
    return 'page';
  }
  const isItalian = path.startsWith(`${DOCS_PATH}/it/`);
  const notFound = isNavigation(req, path)
    ? await assets.find(`${DOCS_PATH}${isItalian ? '/it' : ''}/404.html`)
    : undefined;
  if (notFound === undefined) answerError(res, 404, { code: 'not_found', message: 'There is nothing at this path.' });
  else answerAsset(req, res, notFound, { status: 404 });
  return 'unmatched';
};

/**
 * Returns true if a client asks for a page: a missing script or mistyped API path must get a 404. Browsers name HTML only when
 * they open an address; other clients, such as `fetch` of Node.js, name it with any mode.
 */
const isNavigation = (req: IncomingMessage, path: string): boolean =>
  !path.startsWith('/assets/') && (path === '/' || (req.headers.accept ?? '').includes('text/html'));

const answerAsset = (
  req: IncomingMessage,
  res: ServerResponse,
  asset: Asset,
  { status = 200, vary = 'Accept-Encoding' }: { readonly status?: number; readonly vary?: string } = {},
): void => {
  const encoding = chooseEncoding(req.headers['accept-encoding'], asset);
  const etag = `"${asset.digest}${encoding === undefined ? '' : `-${encoding}`}"`;
  res.setHeader('Cache-Control', asset.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  res.setHeader('ETag', etag);
  if (asset.encoded.size > 0) res.setHeader('Vary', vary);
  if (status === 200 && matches(req.headers['if-none-match'], etag)) {
    res.writeHead(304).end();
    return;
  }
  const bytes = (encoding === undefined ? undefined : asset.encoded.get(encoding)) ?? asset.plain;
  if (encoding !== undefined) res.setHeader('Content-Encoding', encoding);
  res.setHeader('Content-Type', asset.contentType);
  res.setHeader('Content-Length', bytes.length);
  res.writeHead(status).end(req.method === 'HEAD' ? undefined : bytes);
};

/** Returns the best encoding that the client accepts. */
const chooseEncoding = (accepted: string | undefined, asset: Asset): Encoding | undefined => {
  const named = acceptedEncodings(accepted);
  return [...asset.encoded.keys()].find((encoding) => named.has(encoding));
};

const matches = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((item) => item.trim() === '*' || item.trim().replace(/^W\//, '') === etag);

const answerNotBuilt = (res: ServerResponse): void => {
  res.setHeader('Cache-Control', 'no-store');
  res.writeHead(503, { 'Content-Type': 'text/html; charset=utf-8' }).end(NOT_BUILT);
};

const answerError = (res: ServerResponse, status: number, detail: { code: string; message: string }): void => {
  res.setHeader('Cache-Control', 'no-store');
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ detail }));
};

/** Sets the headers of every response of the console. */
const setSecurityHeaders = (res: ServerResponse, isHttps: boolean): void => {
  for (const [name, value] of Object.entries(HEADERS)) res.setHeader(name, value);
  if (isHttps) res.setHeader('Strict-Transport-Security', HSTS);
};
