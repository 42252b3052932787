import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CHANNEL_CLOSING_LINE } from '@svc/contracts';
import { activeTracing, withinSpan } from '@svc/tracing';
import type { AppError } from '../app-error.ts';
import { createServiceAuthenticator } from '../authentication/service-credential.ts';
import { UnorderedSet } from '../collections/unordered-set.ts';
import { type IsUnavailable, isOurs, toAppError } from '../http/answer-error.ts';
import { readCredential } from '../http/authorize.ts';
import { STATUS_CALLER_GONE } from '../http/open-request.ts';
import type { Logger } from '../logging/create-logger.ts';
import type { Metrics } from '../metrics/create-metrics.ts';
import { LinePeer } from './line-peer.ts';

/** A call, and where the lines of its answer go. */
export interface ChannelCall<Q> {
  readonly question: Q;
  readonly log: Logger;
  /** False once the caller has left: nothing more needs to be written. */
  readonly isOpen: () => boolean;
  /** Writes whole lines, each with its end. */
  readonly write: (lines: string) => void;
}

/** What every call says beside its question. */
interface Envelope {
  readonly request_id: string;
  readonly traceparent?: string | undefined;
}

/** How the calls of a channel are answered. */
export interface LineChannelOptions<Q extends Envelope> {
  /** What an upgrade asks for: its path, and the protocol that it names. */
  readonly path: string;
  readonly protocol: string;
  /** For logs, metrics and traces. */
  readonly operationId: string;
  /** Reads a call from its JSON. What it throws ends the connection. */
  readonly readQuestion: (value: unknown) => Q;
  /** INTERNAL_API_TOKENS: the accepted credentials. */
  readonly tokens: readonly string[];
  /** Writes the answer. What it throws is written as a line of its own, `{"error": code}`. */
  readonly answer: (call: ChannelCall<Q>) => Promise<void>;
  readonly isUnavailable?: IsUnavailable | undefined;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What a server does with requests that ask for another protocol. */
export interface LineChannel {
  /** Whether a request asks for this channel; others are answered as if they asked for none. */
  readonly accepts: (req: IncomingMessage) => boolean;
  readonly open: (req: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Asks callers to leave; ends those that have not after `idleMs`, and others with the end of their call. */
  readonly stop: (idleMs: number) => void;
  /** Cuts off whoever is left; true: nobody was. */
  readonly cutOff: () => boolean;
}

/** RFC 9110 section 15.2.2. */
const switching = (protocol: string): string =>
  `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n\r\n`;
const REFUSAL_END = 'connection: close\r\ncontent-length: 0\r\n\r\n';
const UNAUTHORIZED = `HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\n${REFUSAL_END}`;
const UNAVAILABLE = `HTTP/1.1 503 Service Unavailable\r\n${REFUSAL_END}`;
/** Milliseconds; a caller that is gone without a word is found out so. */
const PROBE_AFTER_MS = 60_000;

/**
 * Answers calls over kept connections that begin as HTTP (RFC 9110 section 7.8) and then carry a line of JSON for each call, one call at a
 * time, and lines of JSON for its answer: for what every request of the product waits for. Nothing of HTTP is read or written for a call
 * (docs/adr/0008). A connection that breaks these rules is ended.
 */
export const createLineChannel = <Q extends Envelope>(options: LineChannelOptions<Q>): LineChannel => {
  const authenticate = createServiceAuthenticator(options.tokens);
  const peers = new UnorderedSet<LinePeer>();
  let isStopping = false;
  const open = async (req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    socket.on('error', () => socket.destroy());
    const [, credential = ''] = readCredential(req);
    const isKnown = await authenticate(credential).then(
      ({ name }) => name === 'inference-gateway',
      () => false,
    );
    if (!isKnown || isStopping) {
      observe(options, { status: isKnown ? 503 : 401, startedAtMs: performance.now() });
      socket.end(isKnown ? UNAVAILABLE : UNAUTHORIZED, () => socket.destroy());
      return;
    }
    if (socket instanceof Socket) socket.setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
    socket.write(switching(options.protocol));
    const peer = new LinePeer(socket, head, (line) =>
      answerLine(options, peer, line).catch((error: unknown) => {
        // Not the error itself: it could quote the line.
        options.logger.warn({ operation: options.operationId }, 'what came over a channel is no call');
        throw error;
      }),
    );
    socket.once('close', peers.add(peer));
  };
  return {
    accepts: ({ url, method, headers }) =>
      url === options.path && method === 'GET' && headers.upgrade?.toLowerCase() === options.protocol,
    open: (req, socket, head) => void open(req, socket, head).catch(() => socket.destroy()),
    stop: (idleMs) => {
      isStopping = true;
      for (const peer of peers) peer.write(`${CHANNEL_CLOSING_LINE}\n`);
      setTimeout(() => {
        for (const peer of peers) peer.endWhenIdle();
      }, idleMs).unref();
    },
    cutOff: () => {
      const isNobody = peers.size === 0;
      for (const peer of peers) peer.destroy();
      return isNobody;
    },
  };
};

/** One call, with its log line, its metrics and its span. Rejects for what is no call. */
const answerLine = async <Q extends Envelope>(
  options: LineChannelOptions<Q>,
  peer: LinePeer,
  line: string,
): Promise<void> => {
  const question = options.readQuestion(JSON.parse(line));
  const { request_id: requestId, traceparent } = question;
  const { operationId } = options;
  const startedAtMs = performance.now();
  const attributes = { 'svc.operation': operationId, 'svc.request_id': requestId, 'svc.caller': 'service' };
  const span = activeTracing()?.begin({ name: operationId, kind: 'server', parent: traceparent, attributes });
  const log = () => options.logger.child({ request_id: requestId, operation: operationId });
  const error = await withinSpan(span, () => answerOrTell(options, { question, peer, log }));
  const status = peer.isOpen ? (error?.status ?? 200) : STATUS_CALLER_GONE;
  span?.end(error?.code);
  observe(options, { requestId, traceId: span?.traceId, status, code: error?.code, startedAtMs });
};

/** One call, or one attempt to open the channel. */
interface Observed {
  readonly requestId?: string;
  readonly traceId?: string | undefined;
  readonly status: number;
  readonly code?: string | undefined;
  /** Milliseconds of the monotonic clock. */
  readonly startedAtMs: number;
}

const observe = (
  {
    operationId: operation,
    path,
    logger,
    metrics,
  }: Pick<LineChannelOptions<Envelope>, 'operationId' | 'path' | 'logger' | 'metrics'>,
  { requestId, traceId, status, code, startedAtMs }: Observed,
): void => {
  const milliseconds = performance.now() - startedAtMs;
  metrics.observeRequest({ operation, method: 'LINE', status, seconds: milliseconds / 1000 });
  logger.info(
    {
      request_id: requestId,
      trace_id: traceId,
      operation,
      route: path,
      status,
      duration_ms: Math.round(milliseconds),
      caller: status === 401 ? undefined : 'service',
      code,
    },
    'request',
  );
};

/** Answers the error that the caller was told instead of an answer. */
const answerOrTell = async <Q extends Envelope>(
  options: LineChannelOptions<Q>,
  { question, peer, log }: { readonly question: Q; readonly peer: LinePeer; readonly log: () => Logger },
): Promise<AppError | undefined> => {
  const call = new Call(question, peer, log);
  try {
    await options.answer(call);
    return undefined;
  } catch (thrown) {
    const error = toAppError(thrown, options.isUnavailable);
    if (isOurs(error)) log().error({ kind: error.kind, code: error.code, err: error }, 'request failed');
    call.write(`${JSON.stringify({ error: error.code })}\n`);
    return error;
  } finally {
    call.isOver = true;
  }
};

/** A class for its accessor (see `HandledRequest`). */
class Call<Q> implements ChannelCall<Q> {
  readonly question: Q;
  /** From then on nothing is written: it would be read as an answer to the next call. */
  isOver = false;
  readonly #peer: LinePeer;
  readonly #log: () => Logger;

  constructor(question: Q, peer: LinePeer, log: () => Logger) {
    this.question = question;
    this.#peer = peer;
    this.#log = log;
  }

  get log(): Logger {
    return this.#log();
  }

  readonly isOpen = (): boolean => this.#peer.isOpen && !this.isOver;
  readonly write = (lines: string): void => {
    if (!this.isOver) this.#peer.write(lines);
  };
}
