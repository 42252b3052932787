import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { idPattern, newId } from '@svc/contracts';
import { type Logger, type Metrics, repeatsHost } from '@svc/service-kit';
import { type Asset, type AssetStore, type Encoding, INDEX_PATH } from './asset-store.ts';
import { setSecurityHeaders } from './security-headers.ts';

export interface WebHandlerOptions {
  readonly assets: AssetStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The product's base URL is https: browsers must stay on it. */
  readonly isHttps: boolean;
}

/** Below this path stands the documentation: pages of their own, without the console's script. */
const DOCS_PATH = '/docs';
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

/** Serves built files, and the one page at every address that a browser navigates to. */
export const createWebHandler = (options: WebHandlerOptions): RequestListener => {
  return (req, res) => {
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
    answer(req, res, options.assets).then(
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
};

const answer = async (req: IncomingMessage, res: ServerResponse, assets: AssetStore): Promise<Operation> => {
  if (repeatsHost(req)) {
    res.setHeader('Connection', 'close');
    answerError(res, 400, { code: 'repeated_host', message: 'The request has more than one Host header.' });
    return 'unmatched';
  }
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    res.setHeader('Allow', 'GET, HEAD');
    answerError(res, 405, { code: 'method_not_allowed', message: 'Pages are only read.' });
    return 'unmatched';
  }
  const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
  const asset = path === INDEX_PATH ? undefined : await assets.find(path);
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
  if (page === undefined) answerNotBuilt(res);
  else answerAsset(req, res, page);
  return 'page';
};

const isBelowDocs = (path: string): boolean => path === DOCS_PATH || path.startsWith(`${DOCS_PATH}/`);

/** A page of the documentation by its address without an ending; what is none of them is a 404 with a way back. */
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
  const notFound = isNavigation(req, path) ? await assets.find(`${DOCS_PATH}/404.html`) : undefined;
  if (notFound === undefined) answerError(res, 404, { code: 'not_found', message: 'There is nothing at this path.' });
  else answerAsset(req, res, notFound, 404);
  return 'unmatched';
};

/** Only what a browser opens as a page gets the page: a missing script must be a 404, and so must a mistyped API path. */
const isNavigation = (req: IncomingMessage, path: string): boolean => {
  if (path.startsWith('/assets/')) return false;
  const mode = req.headers['sec-fetch-mode'];
  if (mode !== undefined && mode !== 'navigate') return false;
  return path === '/' || (req.headers.accept ?? '').includes('text/html');
};

const answerAsset = (req: IncomingMessage, res: ServerResponse, asset: Asset, status = 200): void => {
  const encoding = chooseEncoding(req.headers['accept-encoding'], asset);
  const etag = `"${asset.digest}${encoding === undefined ? '' : `-${encoding}`}"`;
  res.setHeader('Cache-Control', asset.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  res.setHeader('ETag', etag);
  if (asset.encoded.size > 0) res.setHeader('Vary', 'Accept-Encoding');
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

/** The best encoding that the client names and does not refuse (RFC 9110 section 12.5.3, without weighing). */
const chooseEncoding = (accepted: string | undefined, asset: Asset): Encoding | undefined => {
  const named = new Set(
    (accepted ?? '')
      .split(',')
      .map((item) => item.trim().toLowerCase())
      .filter((item) => !/;\s*q=0(\.0*)?$/.test(item))
      .map((item) => item.split(';', 1)[0]),
  );
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
