import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorShape } from '@svc/contracts';
import { answerError } from './answer-error.ts';
import { plainAddress, setForwardedHeaders } from './forwarded-headers.ts';
import type { IngressMatch, IngressOwner, IngressTable } from './ingress-table.ts';
import { matchPage } from './match-page.ts';
import { refuseUnreadable } from './refuse-unreadable.ts';
import { readRequestPath } from './request-path.ts';
import { type ReadinessUrls, watchStopping } from './stopping-services.ts';
import { createUpstream, type Upstream } from './upstream.ts';
import { answerWelcome } from './welcome-page.ts';

/** Methods whose body http-proxy frames by itself: with chunks they could smuggle a second request. */
const METHODS_WITHOUT_CHUNKS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);
const ENDS_CONNECTION = { 'content-length': 0, connection: 'close' };

/** One line of the access log: no query, no identifiers, no content. */
export interface AccessRecord {
  requestId: string;
  method: string;
  template: string;
  status: number;
  durationMs: number;
}

/** Root addresses of those who answer. */
export type Upstreams = Partial<Record<IngressOwner, string>>;

/** What an ingress needs. */
export interface IngressOptions {
  table: IngressTable;
  /** A service without an address answers 503; without the console there are no pages but a welcome. */
  upstreams: Upstreams;
  /** Services with an address here get no more requests once they say that they stop. */
  readinessUrls?: ReadinessUrls;
  /** How clients reach the ingress, so that services know. */
  scheme: 'http' | 'https';
  newRequestId: () => string;
  clock: () => number;
  onAnswered?: (record: AccessRecord) => void;
  /** Milliseconds without a byte from a service after which its answer is given up. */
  idleTimeoutMs?: { answers: number; streams: number };
}

/** Builds the one public entrance: it finds the owner of a path, states who asks, and passes bytes on. */
export const createIngress = (options: IngressOptions): Server => {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 256, scheduling: 'lifo' });
  const idleTimeoutMs = options.idleTimeoutMs ?? { answers: 65_000, streams: 630_000 };
  const stopping = watchStopping(options.readinessUrls ?? {}, options.clock);
  const upstream = createUpstream({ agent, stopping, idleTimeoutMs });
  // Of one connection there may be several: the first of them is being written, the others wait for it.
  const open = new WeakMap<Duplex, Set<ServerResponse>>();
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    const answers = open.get(req.socket) ?? new Set();
    open.set(req.socket, answers.add(res));
    res.once('close', () => answers.delete(res));
    handle(req, res, { ...options, upstream });
  };
  // Whoever names no host or expects what nobody knows is answered here too, under a request id.
  const server = createServer({ requireHostHeader: false }, onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) =>
    refuseUnreadable({ socket, error, requestId: options.newRequestId(), answers: [...(open.get(socket) ?? [])] }),
  );
  server.on('close', () => agent.destroy());
  return server;
};

const handle = (req: IncomingMessage, res: ServerResponse, options: IngressOptions & { upstream: Upstream }): void => {
  const requestId = options.newRequestId();
  const path = readRequestPath(req.url);
  const match = path === undefined ? undefined : findMatch(path, req, options);
  res.setHeader('x-request-id', requestId);
  if (options.onAnswered !== undefined) reportWhenAnswered(req, res, { options, requestId, match });
  if (framesBadly(req)) {
    res.writeHead(400, ENDS_CONNECTION).end();
    return;
  }
  if (req.headers.upgrade?.toLowerCase() === 'websocket') {
    const message = 'WebSocket is not spoken here.';
    answerError(res, { code: 'not_implemented', shape: match?.errorShape ?? 'detail', message });
    return;
  }
  if (match === undefined && path === '/' && isRead(req)) {
    answerWelcome(res, req.headers.accept);
    return;
  }
  if (match === undefined) {
    const shape = shapeNear(req.url, options.table);
    answerError(res, { code: 'not_found', shape, message: 'There is nothing at this address.' });
    return;
  }
  const clientAddress = plainAddress(req.socket.remoteAddress);
  setForwardedHeaders(req.headers, { requestId, clientAddress, scheme: options.scheme });
  options.upstream.forward(req, res, { match, target: options.upstreams[match.service] });
};

/** The owner of a path; what no service owns may be one of the console's pages, where there is a console. */
const findMatch = (path: string, req: IncomingMessage, options: IngressOptions): IngressMatch | undefined => {
  const match = options.table.match(path);
  if (match !== undefined || options.upstreams.console === undefined || !isRead(req)) return match;
  // Whoever is no browser is told at the root what is here.
  const isWelcome = path === '/' && !req.headers.accept?.includes('text/html');
  return isWelcome ? undefined : matchPage(path);
};

/** How errors look at an address that is no path of ours: as where its readable beginning leads. */
const shapeNear = (target: string | undefined, table: IngressTable): ErrorShape =>
  table.match(target?.split(/[?%]/, 1)[0] ?? '')?.errorShape ?? 'detail';

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

const framesBadly = (req: IncomingMessage): boolean => {
  // RFC 9112 section 3.2.
  if (req.headers.host === undefined && req.httpVersion === '1.1') return true;
  const encoding = req.headers['transfer-encoding'];
  if (encoding === undefined) return false;
  return encoding.toLowerCase() !== 'chunked' || METHODS_WITHOUT_CHUNKS.has(req.method ?? '');
};

const reportWhenAnswered = (
  req: IncomingMessage,
  res: ServerResponse,
  { options, requestId, match }: { options: IngressOptions; requestId: string; match: IngressMatch | undefined },
): void => {
  const startedAt = options.clock();
  res.once('close', () =>
    options.onAnswered?.({
      requestId,
      method: req.method ?? '',
      template: match?.template ?? 'none',
      // 499: the client left before the answer was whole.
      status: res.writableFinished ? res.statusCode : 499,
      durationMs: Math.round(options.clock() - startedAt),
    }),
  );
};
