import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { PassThrough } from 'node:stream';
import { defineStyle, html, pagePolicy, renderPage, THEME } from '@svc/pages';
import { awaitsContinue } from '@svc/service-kit';
import httpProxy from 'http-proxy';
import { answerError } from './answer-error.ts';
import type { IngressMatch } from './ingress-table.ts';
import type { StoppingServices } from './stopping-services.ts';

/** Headers of one connection (RFC 9110 §7.6.1). `transfer-encoding` stays, as it frames the forwarded body. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade'];
const ANSWERED_HERE = ['expect'];
/** Headers by which proxies describe a client. From outside they are unproven claims. */
const CLAIMS = ['forwarded', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'x-request-id', 'via'];
const CLAIM_PREFIX = 'x-forwarded-';

interface ForwardedRequest {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly scheme: 'http' | 'https';
}

/** Removes the headers of this hop and the claims from outside, then sets request id and client address, in place. */
export const setForwardedHeaders = (headers: IncomingHttpHeaders, request: ForwardedRequest): void => {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  // A client may not remove a header that frames the message.
  const nominated = named.filter(
    (name) => name !== 'transfer-encoding' && name !== 'content-length' && name !== 'host',
  );
  for (const name of [...HOP_BY_HOP, ...ANSWERED_HERE, ...CLAIMS, ...nominated]) delete headers[name];
  for (const name of Object.keys(headers)) {
    if (name.startsWith(CLAIM_PREFIX)) delete headers[name];
  }
  headers['x-request-id'] = request.requestId;
  headers['x-forwarded-for'] = request.clientAddress;
  headers['x-forwarded-proto'] = request.scheme;
  if (headers.host !== undefined) headers['x-forwarded-host'] = headers.host;
};

/** Returns the address of a socket. On a dual-stack socket, an IPv4 address loses its IPv6 prefix. */
const plainAddress = (address: string | undefined): string => (address ?? '').replace(/^::ffff:(?=\d+\.)/, '');

/**
 * Returns the client's address: the one that the outermost of `hops` trusted proxies states, or that of the socket without proxies.
 * Entries further left are unproven claims.
 */
export const clientAddressOf = ({ headers, socket }: IncomingMessage, hops: number): string => {
  const stated = (headers['x-forwarded-for']?.toString() ?? '').split(',').map((entry) => entry.trim());
  const address = hops === 0 ? undefined : stated.at(-hops);
  return plainAddress(address !== undefined && isIP(address) !== 0 ? address : socket.remoteAddress);
};

/** Returns the response headers of a service by name, without those of the connection to it. */
const passedOnHeaders = (rawHeaders: readonly string[]): Map<string, string[]> => {
  const kept = new Map<string, string[]>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const lowerName = name.toLowerCase();
    if (HOP_BY_HOP.includes(lowerName) || lowerName === 'transfer-encoding' || lowerName === 'x-request-id') continue;
    kept.set(name, [...(kept.get(name) ?? []), rawHeaders[index + 1] ?? '']);
  }
  return kept;
};

export const PAGE_STYLE = defineStyle(
  THEME,
  `
body{padding:1rem;align-items:center;justify-content:center}
main{max-width:32rem}
h1{margin-bottom:.5rem}
p{margin:0 0 .75rem}
`,
);

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
const answerWaiting = (res: ServerResponse): void => {
  res.writeHead(503, HEADERS).end(PAGE);
};

/** Time that a service takes to restart. */
const RETRY_AFTER_SECONDS = 1;
const NEVER_REACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

export interface Forwarding {
  readonly match: IngressMatch;
  readonly target: string | undefined;
}

export interface Upstream {
  readonly forward: (req: IncomingMessage, res: ServerResponse, to: Forwarding) => void;
}

export interface UpstreamOptions {
  readonly agent: Agent;
  readonly stopping: StoppingServices;
  /** Maximum time without a byte from the service. A provider may be slow to respond. */
  readonly idleTimeoutMs: { readonly answers: number; readonly streams: number };
}

/** Creates the forwarder. It streams both ways, and the end of either side ends the other. */
export const createUpstream = ({ agent, stopping, idleTimeoutMs }: UpstreamOptions): Upstream => {
  const proxy = httpProxy.createProxyServer({ agent, selfHandleResponse: true });
  proxy.on('proxyReq', (proxyReq, req, res, { buffer }) => {
    // http-proxy drops the question mark of an empty query.
    proxyReq.path = req.url ?? '/';
    endWithAnswer(proxyReq, req, res);
    if (buffer instanceof PassThrough) askBeforeBody(proxyReq, req, buffer);
    else sendHeadOfLateBody(proxyReq, req);
    proxyReq.once('response', (proxyRes) => leaveStream(proxyReq, proxyRes));
  });
  proxy.on('proxyRes', (proxyRes, _req, res) => passOn(proxyRes, res));
  proxy.on('econnreset', (_error, _req, res) => destroyQuietly(res));
  return {
    forward: (req, res, { match, target }) => {
      if (target === undefined || stopping.includes(match.service)) {
        answerDown(req, res, { match, isCertain: true });
        return;
      }
      const timeout = match.service === 'inference-gateway' ? idleTimeoutMs.streams : idleTimeoutMs.answers;
      const body = awaitsContinue(req) ? { buffer: new PassThrough() } : {};
      proxy.web(req, res, { target, proxyTimeout: timeout, ...body }, (error) => {
        const isCertain = 'code' in error && NEVER_REACHED.has(String(error.code));
        answerDown(req, res, { match, isCertain });
      });
    },
  };
};

/** Lets the service decide on the head of a request whose sender waits for 100 Continue before it sends the body. */
const askBeforeBody = (proxyReq: ClientRequest, req: IncomingMessage, body: PassThrough): void => {
  // http-proxy omits its event for a request that had this header from the start.
  proxyReq.setHeader('expect', '100-continue');
  proxyReq.once('continue', () => req.pipe(body));
  proxyReq.flushHeaders();
};

/** Lets the service decide on a head whose body does not arrive with it. Otherwise Node sends it only with the first byte. */
const sendHeadOfLateBody = (proxyReq: ClientRequest, { headers }: IncomingMessage): void => {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  if (length === '0' && encoding === undefined) return;
  setImmediate(() => {
    if (!proxyReq.headersSent && !proxyReq.destroyed) proxyReq.flushHeaders();
  });
};

/**
 * Ends the upstream request with the response. http-proxy detects a disconnected client only while reading the request,
 * but a client may leave a stream later. The rest of a request that was answered early is drained: the next request on
 * the connection would wait behind it for ever.
 */
const endWithAnswer = (proxyReq: ClientRequest, req: IncomingMessage, res: ServerResponse): void => {
  const end = (): void => {
    if (res.writableFinished && proxyReq.writableFinished) return;
    req.unpipe(proxyReq);
    req.resume();
    proxyReq.destroy();
  };
  if (res.destroyed) end();
  else res.once('close', end);
};

/**
 * Closes the connection after a stream. A stopping service announces the close in the head of a response, which a
 * stream has sent long before. It closes the connection at the end of the stream, when the next request may be in
 * transit.
 */
const leaveStream = (proxyReq: ClientRequest, { headers }: IncomingMessage): void => {
  if (headers['content-type']?.startsWith('text/event-stream') === true) proxyReq.shouldKeepAlive = false;
};

const passOn = (proxyRes: IncomingMessage, res: ServerResponse): void => {
  for (const [name, values] of passedOnHeaders(proxyRes.rawHeaders)) {
    res.setHeader(name, values.length === 1 ? (values[0] ?? '') : values);
  }
  // The rest of the request, or its body that was not invited, will not arrive.
  if (proxyRes.statusCode === 408 || awaitsContinue(res.req)) res.setHeader('connection', 'close');
  res.writeHead(proxyRes.statusCode ?? 502, proxyRes.statusMessage);
  // The headers of a stream must not wait for its first event.
  res.flushHeaders();
  // A truncated response must not look complete. In the other direction, `endWithAnswer` aborts the upstream request.
  proxyRes.once('error', () => res.destroy());
  proxyRes.pipe(res);
};

const answerDown = (
  req: IncomingMessage,
  res: ServerResponse,
  { match, isCertain }: { match: IngressMatch; isCertain: boolean },
): void => {
  if (res.destroyed) return;
  // The console may still be building. A page can say so and reload; a file cannot.
  if (match.service === 'console' && isCertain && req.headers.accept?.includes('text/html')) {
    answerWaiting(res);
    return;
  }
  const { errorShape: shape, isCrossOrigin } = match;
  if (isCertain) {
    answerError(res, { code: 'service_unavailable', shape, isCrossOrigin, retryAfterSeconds: RETRY_AFTER_SECONDS });
  } else if (match.mayCost) {
    answerError(res, { code: 'upstream_timeout_uncertain', shape, isCrossOrigin });
  } else {
    const message = 'The connection to the service was lost before it answered: the request may have been carried out.';
    answerError(res, { code: 'service_unavailable', shape, isCrossOrigin, message });
  }
};

const destroyQuietly = (res: unknown): void => {
  if (typeof res === 'object' && res !== null && 'destroy' in res && typeof res.destroy === 'function') res.destroy();
};
