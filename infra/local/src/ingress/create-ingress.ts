import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorShape, isForWireClient, notServedMessage } from '@svc/contracts';
import { continueOnRead, findHeadFault, followsRefusedHead, toOriginForm } from '@svc/service-kit';
import { answerError } from './answer-error.ts';
import { clientAddressOf, setForwardedHeaders } from './forwarded-headers.ts';
import type { IngressMatch, IngressOwner, IngressTable } from './ingress-table.ts';
import { matchPage } from './match-page.ts';
import { refuseUnreadable } from './refuse-unreadable.ts';
import { readRequestPath } from './request-path.ts';
import { type ReadinessUrls, watchStopping } from './stopping-services.ts';
import { createUpstream, type Upstream } from './upstream.ts';
import { answerWelcome } from './welcome-page.ts';

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
  const server = createServer({ requireHostHeader: false }, onRequest);
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
  res.setHeader('x-request-id', requestId);
  const fault = findHeadFault(req);
  if (fault !== undefined) {
    res.setHeader('connection', 'close');
    answerError(res, { code: fault, shape });
  } else if (framesBadly(req)) {
    res.writeHead(400, ENDS_CONNECTION).end();
  } else if (req.headers.upgrade?.toLowerCase() === 'websocket') {
    answerError(res, { code: 'not_implemented', shape, message: 'WebSocket is not supported.' });
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
