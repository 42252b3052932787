import { connect as connectTcp, isIP, type NetConnectOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Connection } from './connection.ts';
import { type HttpExchange, type HttpHandler, type HttpRequest, toRequestHead } from './http-exchange.ts';

/** Connection settings. Times in milliseconds. */
interface HttpClientOptions {
  readonly connectTimeoutMs: number;
  /** Per origin; further exchanges wait. */
  readonly connectionsMax: number;
  /** Default idle time, and its maximum if the server names one. */
  readonly keepAliveMs: number;
  readonly keepAliveMsMax: number;
}

/** Sends requests over pooled connections. */
export interface HttpClient {
  /** Throws TypeError for an invalid request. The handler receives all other errors. */
  readonly send: (request: HttpRequest, handler: HttpHandler) => void;
  /** Closes all connections; pending exchanges fail. */
  readonly close: () => void;
}

/** Interval at which idle connections are checked. */
const SWEEP_MS = 1_000;
const PROBE_AFTER_MS = 60_000;
/** A connection idle for longer than this may have been closed by the server without our having read it yet. */
const FRESH_MS = 1_000;
/** Maximum exchanges of one origin that wait for a connection. */
const WAITING_MAX = 10_000;
const READ_BYTES = 64 * 1024;
/** Shared by all connections: each consumes its bytes in the turn in which they were read. */
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** Creates an HTTP/1.1 client over TCP and TLS. It decodes directly from one read buffer, without streams. */
export const createHttpClient = (options: HttpClientOptions): HttpClient => {
  const pools = new Map<string, Pool>();
  let isClosed = false;
  return {
    send: (request, handler) => {
      if (isClosed) return handler.onError(new Error('the client is closed'));
      let pool = pools.get(request.origin);
      if (pool === undefined) {
        pool = new Pool(new URL(request.origin), options);
        pools.set(request.origin, pool);
      }
      pool.send(request, handler);
    },
    close: () => {
      isClosed = true;
      for (const pool of pools.values()) pool.close();
    },
  };
};

/** Calls back after the event loop has read all pending input. */
const afterPoll = (call: () => void): void => {
  // The first may run in the same turn, before the loop polls again.
  setImmediate(() => setImmediate(call));
};

/** The connections to one origin. */
class Pool {
  readonly #url: URL;
  readonly #host: string;
  readonly #options: HttpClientOptions;
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();
  #waiting: HttpExchange[] = [];
  #sweep: NodeJS.Timeout | undefined;
  #session: Buffer | undefined;
  #isClosed = false;

  constructor(url: URL, options: HttpClientOptions) {
    this.#url = url;
    this.#host = url.host;
    this.#options = options;
  }

  send(request: HttpRequest, handler: HttpHandler): void {
    this.#place({ head: toRequestHead(request, this.#host), body: request.body, handler });
  }

  #place(exchange: HttpExchange): void {
    const connection = this.#takeIdle();
    if (connection !== undefined) {
      if (performance.now() - connection.idleSinceMs < FRESH_MS) this.#sendOver(connection, exchange);
      else afterPoll(() => this.#sendIfOpen(connection, exchange));
    } else if (this.#all.size < this.#options.connectionsMax) this.#connect(exchange);
    else if (this.#waiting.length < WAITING_MAX) this.#waiting.push(exchange);
    else exchange.handler.onError(new Error('too many requests wait for a connection'));
  }

  /** A request sent to a connection that the server has just closed would count as lost, not as never sent. */
  #sendIfOpen(connection: Connection, exchange: HttpExchange): void {
    if (this.#isClosed) exchange.handler.onError(new Error('the client was closed'));
    else if (connection.isClosed) this.#place(exchange);
    else this.#sendOver(connection, exchange);
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { handler } of waiting) handler.onError(new Error('the client was closed'));
    for (const connection of [...this.#all]) connection.close();
  }

  /** Takes the most recently used connection, so that spare ones time out. */
  #takeIdle(): Connection | undefined {
    const nowMs = performance.now();
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) return undefined;
      if (!connection.isClosed && connection.idleUntilMs > nowMs) return connection;
      connection.close();
    }
  }

  #connect(exchange: HttpExchange): void {
    const connection = new Connection({
      keepAliveMs: this.#options.keepAliveMs,
      keepAliveMsMax: this.#options.keepAliveMsMax,
      onIdle: (idle) => this.#release(idle),
      onClosed: (closed) => this.#forget(closed),
    });
    this.#all.add(connection);
    const socket = this.#open(connection).setNoDelay(true).setKeepAlive(true, PROBE_AFTER_MS);
    connection.attach(socket, exchange.handler);
    const timeoutMs = this.#options.connectTimeoutMs;
    const timer = setTimeout(() => connection.abort(new Error('connection timeout')), timeoutMs);
    const stopTimer = (): void => clearTimeout(timer);
    socket.once('close', stopTimer);
    socket.once(this.#isTls() ? 'secureConnect' : 'connect', () => {
      stopTimer();
      socket.off('close', stopTimer);
      this.#sendOver(connection, exchange);
    });
  }

  #sendOver(connection: Connection, exchange: HttpExchange): void {
    if (!connection.send(exchange)) this.#release(connection);
  }

  #isTls(): boolean {
    return this.#url.protocol === 'https:';
  }

  #open(connection: Connection): Socket {
    const { hostname, port } = this.#url;
    const host = hostname.replace(/^\[|\]$/g, '');
    const to: NetConnectOpts = {
      host,
      port: Number(port) || (this.#isTls() ? 443 : 80),
      onread: {
        buffer: readBuffer,
        callback: (length) => {
          connection.read(readBuffer.subarray(0, length));
          return true;
        },
      },
    };
    if (!this.#isTls()) return connectTcp(to);
    const servername = isIP(host) === 0 ? host : '';
    const session = this.#session === undefined ? {} : { session: this.#session };
    const socket = connectTls({ ...to, servername, ALPNProtocols: ['http/1.1'], ...session });
    socket.on('session', (ticket) => {
      this.#session = ticket;
    });
    // The server may have rejected the session.
    socket.once('error', () => {
      this.#session = undefined;
    });
    return socket;
  }

  #release(connection: Connection): void {
    // Iterative: any number of requests may have been cancelled.
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (connection.send(next)) return;
    }
    this.#idle.push(connection);
    this.#sweep ??= setInterval(() => this.#closeOld(), SWEEP_MS).unref();
  }

  #closeOld(): void {
    const nowMs = performance.now();
    for (const connection of [...this.#idle]) if (connection.idleUntilMs <= nowMs) connection.close();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    const next = this.#isClosed ? undefined : this.#waiting.shift();
    if (next !== undefined) this.#connect(next);
  }
}
