import type { TcpSocketConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, type SecureContext, type TLSSocket } from 'node:tls';
import { Client, type Dispatcher } from 'undici';
import type { CheckedDestination } from './check-destination.ts';

export interface SignedPost {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The part of an answer that is kept, without its body. */
export interface Answer {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
}

/** The status of an answer arrived, but the connection ended before the answer did. */
export class AnswerUnfinished extends Error {
  override readonly name = 'AnswerUnfinished';
  readonly statusCode: number;

  constructor(statusCode: number, cause: unknown) {
    super('the answer did not end', { cause });
    this.statusCode = statusCode;
  }
}

export interface BoundedGet {
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body to read. The connection closes on a longer one. */
  readonly bodyBytesMax: number;
}

/** Headers that say how long an answer may be kept (RFC 9111). */
export interface CachingHeaders {
  readonly cacheControl: string | undefined;
  readonly expires: string | undefined;
  readonly date: string | undefined;
  readonly age: string | undefined;
}

/** An answer with the beginning of its body. */
export interface ReadAnswer {
  readonly statusCode: number;
  readonly caching: CachingHeaders;
  readonly body: Buffer;
}

/** A connection to one checked address, for one request at a time. */
export interface PinnedConnection {
  /** Rejects and closes the connection if no complete answer arrives; with AnswerUnfinished if its status did. */
  readonly post: (path: string, request: SignedPost) => Promise<Answer>;
  /** Rejects and closes the connection if no answer arrives. */
  readonly get: (path: string, request: BoundedGet) => Promise<ReadAnswer>;
  /** Returns true if another request may use it. */
  readonly isOpen: () => boolean;
  /** Returns true after the first answer. The receiver may then close it independently of a request. */
  readonly hasServed: () => boolean;
  readonly destroy: (error: Error) => void;
}

export interface ConnectChoices {
  readonly secureContext: SecureContext;
  readonly session: Buffer | undefined;
  readonly onSession: (session: Buffer) => void;
  readonly onClose: () => void;
  readonly signal: AbortSignal;
}

/** Bytes that are read of the answer to a POST. */
const ANSWER_BYTES_MAX = 64 * 1024;
const CONNECT_ATTEMPT_TIMEOUT_MS = 2_000;
const IDLE_TIMEOUT_MS = 10_000;
const HEADER_BYTES_MAX = 16 * 1024;
const FINAL_STATUS_MIN = 200;

/**
 * Connects to one of the checked addresses, with the destination's name in SNI and in the certificate. Rejects with the error of
 * Node or OpenSSL, or with the reason of `signal`.
 */
export const openPinnedConnection = async (
  checked: CheckedDestination,
  choices: ConnectChoices,
): Promise<PinnedConnection> => {
  const socket = await openSocket(checked, choices);
  let isTaken = false;
  const client = new Client(`https://${checked.destination.authority}`, {
    // The client never opens a second socket: its address would not be checked.
    connect: (_options, callback) => {
      if (isTaken) return queueMicrotask(() => callback(new Error('the connection is closed'), null));
      isTaken = true;
      // The client expects the callback after this call.
      queueMicrotask(() => callback(null, socket));
    },
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    keepAliveMaxTimeout: IDLE_TIMEOUT_MS,
    // The attempt has one time-out for all its steps.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let hasServed = false;
  const destroy = (error: Error): void => {
    client.destroy(error, () => undefined);
    socket.destroy();
  };
  socket.once('close', () => {
    client.destroy(() => undefined);
    choices.onClose();
  });
  return {
    post: async (path, { headers, body }) => {
      const limits = { readBytesMax: ANSWER_BYTES_MAX, keptBytesMax: 0, destroy };
      const { statusCode, retryAfter } = await send(client, { method: 'POST', path, headers, body }, limits);
      hasServed = true;
      return { statusCode, retryAfter };
    },
    get: async (path, { headers, bodyBytesMax }) => {
      const limits = { readBytesMax: bodyBytesMax, keptBytesMax: bodyBytesMax, destroy };
      const { statusCode, caching, body } = await send(client, { method: 'GET', path, headers }, limits);
      hasServed = true;
      return { statusCode, caching, body };
    },
    isOpen: () => !socket.destroyed && !socket.readableEnded && socket.writable,
    hasServed: () => hasServed,
    destroy,
  };
};

const openSocket = (checked: CheckedDestination, choices: ConnectChoices): Promise<TLSSocket> => {
  const { signal, onSession } = choices;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect(socketOptions(checked, choices));
    const cancel = (): void => void socket.destroy(toError(signal.reason));
    signal.addEventListener('abort', cancel, { once: true });
    socket.setNoDelay(true);
    socket.on('session', onSession);
    socket.once('error', reject);
    // A receiver that closes the connection during the handshake causes no error event.
    const closedEarly = () => reject(Object.assign(new Error('closed during the handshake'), { code: 'ECONNRESET' }));
    socket.once('close', closedEarly);
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', cancel);
      socket.off('error', reject);
      socket.off('close', closedEarly);
      // From now on the close event reports failures.
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('close', () => signal.removeEventListener('abort', cancel));
  });
};

/** Node passes the TCP options on, but its types of TLS options leave them out. */
type SocketOptions = ConnectionOptions &
  Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'>;

const socketOptions = (
  { destination, addresses }: CheckedDestination,
  { secureContext, session }: ConnectChoices,
): SocketOptions => ({
  host: destination.host,
  port: destination.port,
  servername: destination.serverName,
  // Node resolves every name through this function, and no IP addresses.
  lookup: (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  },
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_TIMEOUT_MS,
  secureContext,
  rejectUnauthorized: true,
  ALPNProtocols: ['http/1.1'],
  ...(session === undefined ? {} : { session }),
});

interface SendLimits {
  readonly readBytesMax: number;
  readonly keptBytesMax: number;
  readonly destroy: (error: Error) => void;
}

const send = (
  client: Client,
  request: Pick<Dispatcher.DispatchOptions, 'method' | 'path'> & {
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: Buffer;
  },
  { readBytesMax, keptBytesMax, destroy }: SendLimits,
): Promise<Answer & ReadAnswer> => {
  return new Promise((resolve, reject) => {
    let answer: Answer & Omit<ReadAnswer, 'body'> = { statusCode: 0, retryAfter: undefined, caching: cachingOf({}) };
    const kept: Buffer[] = [];
    let bytes = 0;
    const finish = () => resolve({ ...answer, body: Buffer.concat(kept).subarray(0, keptBytesMax) });
    client.dispatch(request, {
      onRequestStart: () => undefined,
      onResponseStart(_controller, statusCode, fields) {
        const fieldOf = (name: string): string | undefined => {
          const value = fields[name];
          return typeof value === 'string' ? value : undefined;
        };
        if (statusCode >= FINAL_STATUS_MIN) {
          answer = { statusCode, retryAfter: fieldOf('retry-after'), caching: cachingOf(fields) };
        }
      },
      onResponseData(_controller, chunk) {
        if (bytes < keptBytesMax) kept.push(chunk);
        bytes += chunk.length;
        if (bytes <= readBytesMax) return;
        finish();
        // Closing the connection skips the rest.
        destroy(new Error('the answer is too long'));
      },
      onResponseEnd: finish,
      onResponseError: (_controller, error) =>
        reject(answer.statusCode === 0 ? error : new AnswerUnfinished(answer.statusCode, error)),
    });
  });
};

type Fields = Readonly<Record<string, string | string[] | undefined>>;

/** Repeated `Cache-Control` lines are one list (RFC 9110 section 5.3). The others have one value. */
const cachingOf = (fields: Fields): CachingHeaders => ({
  cacheControl: [fields['cache-control'] ?? []].flat().join(', ') || undefined,
  expires: [fields['expires']].flat()[0],
  date: [fields['date']].flat()[0],
  age: [fields['age']].flat()[0],
});

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error('aborted'));
