import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorShape, isForWireClient, notServedMessage } from '@svc/contracts';
import { html, pagePolicy, renderPage } from '@svc/pages';
import { boundPipelining, continueOnRead, findHeadFault, followsRefusedHead, toOriginForm } from '@svc/service-kit';
import { answerError } from './answer-error.ts';
import type { IngressMatch, IngressOwner, IngressTable } from './ingress-table.ts';
import { matchPage, readRequestPath } from './ingress-table.ts';
import { type ReadinessUrls, watchStopping } from './stopping-services.ts';
import { clientAddressOf, createUpstream, PAGE_STYLE, setForwardedHeaders, type Upstream } from './upstream.ts';

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
const answerWelcome = (res: ServerResponse, accept: string | undefined): void => {
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

/** Statuses with which Node answers parser errors. All others are 400. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

interface Unreadable {
  readonly socket: Duplex;
  readonly error: NodeJS.ErrnoException;
  readonly requestId: string;
  readonly answers: readonly ServerResponse[];
}

/** Answers as Node would, with a request id, and closes the connection. If an answer has begun, only closes it. */
const refuseUnreadable = ({ socket, error, requestId, answers }: Unreadable): void => {
  const hasBegun = answers.some(({ headersSent, writableFinished }) => headersSent && !writableFinished);
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ''] ?? 400;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nx-request-id: ${requestId}\r\n`;
  socket.end(`${head}content-length: 0\r\nconnection: close\r\n\r\n`, () => socket.destroy());
};

/** Methods for which http-proxy frames the body itself: a chunked one could smuggle a second request. */
const METHODS_WITHOUT_CHUNKS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);
const ENDS_CONNECTION = { 'content-length': 0, connection: 'close' };

/** One line of the access log: no query, no identifiers, no content. */
export interface AccessRecord {
  readonly requestId: string;
  readonly method: string;
  readonly template: string;
  readonly status: number;
  readonly durationMs: number;
}

export type Upstreams = Partial<Record<IngressOwner, string>>;

export interface IngressOptions {
  readonly table: IngressTable;
  /** A service without a URL answers 503. Without the console, the only page is the welcome page. */
  readonly upstreams: Upstreams;
  /** A service listed here gets no more requests once it reports `stopping`. */
  readonly readinessUrls?: ReadinessUrls;
  readonly scheme: 'http' | 'https';
  /** Number of proxies in front whose X-Forwarded-For entry is believed; none unless given. */
  readonly trustProxyHops?: number;
  readonly newRequestId: () => string;
  readonly clock: () => number;
  readonly onAnswered?: (record: AccessRecord) => void;
  /** Aborts a request after this long without a byte from the service. */
  readonly idleTimeoutMs?: { readonly answers: number; readonly streams: number };
}

interface Routed {
  readonly requestId: string;
  /** Undefined if the path is ambiguous. */
  readonly path: string | undefined;
  readonly match: IngressMatch | undefined;
}

/** Creates the public entrance: finds the owner of a path, sets the client's address, and forwards. */
export const createIngress = (options: IngressOptions): Server => {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 256, scheduling: 'lifo' });
  const idleTimeoutMs = options.idleTimeoutMs ?? { answers: 65_000, streams: 630_000 };
  const stopping = watchStopping(options.readinessUrls ?? {}, options.clock);
  const upstream = createUpstream({ agent, stopping, idleTimeoutMs });
  // A connection has several open answers when requests are pipelined.
  const open = new WeakMap<Duplex, Set<ServerResponse>>();
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    if (followsRefusedHead(req)) return;
    toOriginForm(req);
    const startedAt = options.clock();
    const path = readRequestPath(req.url);
    const match = path === undefined ? undefined : findMatch(path, req, options);
    const routed = { requestId: options.newRequestId(), path, match };
    const answers = open.get(req.socket) ?? new Set();
    open.set(req.socket, answers.add(res));
    res.once('close', () => {
      answers.delete(res);
      options.onAnswered?.(accessRecord(req, res, routed, options.clock() - startedAt));
    });
    answer(req, res, { ...options, ...routed, upstream });
  };
  // The ingress rejects a missing host itself, so that the response carries a request id too.
  const server = createServer({ requireHostHeader: false }, boundPipelining(onRequest));
  continueOnRead(server);
  server.on('clientError', (error, socket) =>
    refuseUnreadable({ socket, error, requestId: options.newRequestId(), answers: [...(open.get(socket) ?? [])] }),
  );
  server.on('close', () => agent.destroy());
  return server;
};

const answer = (
  req: IncomingMessage,
  res: ServerResponse,
  options: IngressOptions & Routed & { readonly upstream: Upstream },
): void => {
  const { requestId, path, match } = options;
  const shape = match?.errorShape ?? shapeNear(req.url, options.table);
  const isCrossOrigin = match?.isCrossOrigin;
  res.setHeader('x-request-id', requestId);
  const fault = findHeadFault(req);
  if (fault !== undefined) {
    res.setHeader('connection', 'close');
    answerError(res, { code: fault, shape, isCrossOrigin });
  } else if (framesBadly(req)) {
    res.writeHead(400, ENDS_CONNECTION).end();
  } else if (req.headers.upgrade?.toLowerCase() === 'websocket') {
    answerError(res, { code: 'not_implemented', shape, isCrossOrigin, message: 'WebSocket is not supported.' });
  } else if (match !== undefined) {
    const clientAddress = clientAddressOf(req, options.trustProxyHops ?? 0);
    setForwardedHeaders(req.headers, { requestId, clientAddress, scheme: options.scheme });
    options.upstream.forward(req, res, { match, target: options.upstreams[match.service] });
  } else if (path === '/' && isRead(req)) {
    answerWelcome(res, req.headers.accept);
  } else {
    const isWire = isForWireClient(path ?? '', req.headers.authorization);
    answerError(res, {
      code: 'not_found',
      shape: isWire ? 'wire' : shape,
      message: isWire ? notServedMessage(path ?? '') : 'There is nothing at this address.',
    });
  }
};

/** Returns the owner of a path. If the console runs, it owns the pages that no service owns. */
const findMatch = (path: string, req: IncomingMessage, options: IngressOptions): IngressMatch | undefined => {
  const match = options.table.match(path);
  if (match !== undefined || options.upstreams.console === undefined || !isRead(req)) return match;
  // Clients other than browsers get the welcome page at the root.
  const isWelcome = path === '/' && !req.headers.accept?.includes('text/html');
  return isWelcome ? undefined : matchPage(path);
};

/** Returns the error shape at an unknown or ambiguous address: that of its readable beginning. */
const shapeNear = (target: string | undefined, table: IngressTable): ErrorShape =>
  table.match(target?.split(/[?%]/, 1)[0] ?? '')?.errorShape ?? 'detail';

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

const framesBadly = (req: IncomingMessage): boolean => {
  // RFC 9112 §3.2.
  if (req.headers.host === undefined && req.httpVersion === '1.1') return true;
  const encoding = req.headers['transfer-encoding'];
  if (encoding === undefined) return false;
  return encoding.toLowerCase() !== 'chunked' || METHODS_WITHOUT_CHUNKS.has(req.method ?? '');
};

const accessRecord = (
  req: IncomingMessage,
  res: ServerResponse,
  { requestId, match }: Routed,
  elapsedMs: number,
): AccessRecord => ({
  requestId,
  method: req.method ?? '',
  template: match?.template ?? 'none',
  // 499: the client disconnected before the response was complete.
  status: res.writableFinished ? res.statusCode : 499,
  durationMs: Math.round(elapsedMs),
});
