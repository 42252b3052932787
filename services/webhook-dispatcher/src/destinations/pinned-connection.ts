import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import { Client } from 'undici';
import type { CheckedDestination } from './check-destination.ts';

/** What is sent. */
export interface SignedPost {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What is kept of an answer: never its body. */
export interface Answer {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
}

/** One connection to one checked address. It is used for one request at a time. */
export interface PinnedConnection {
  /** Rejects when no whole answer comes; the connection is then gone. */
  post(path: string, request: SignedPost): Promise<Answer>;
  /** Whether it may be used again. */
  isOpen(): boolean;
  /** Whether an answer has come on it before: its end may then say nothing about this request. */
  hasServed(): boolean;
  /** Closes it at once; a request under way is rejected with this error. */
  destroy(error: Error): void;
}

/** What connecting takes beside the destination. */
export interface ConnectChoices {
  readonly secureContext: SecureContext;
  readonly session: Buffer | undefined;
  readonly onSession: (session: Buffer) => void;
  readonly onClose: () => void;
  readonly signal: AbortSignal;
}

/** Of an answer's body; what is beyond is not read. */
const ANSWER_BYTES_MAX = 64 * 1024;
const CONNECT_ATTEMPT_TIMEOUT_MS = 2_000;
const IDLE_TIMEOUT_MS = 10_000;
const HEADER_BYTES_MAX = 16 * 1024;
const FINAL_STATUS_MIN = 200;

/**
 * Connects to one of the checked addresses, with the destination's name in SNI and in the certificate. Rejects with Node's or
 * OpenSSL's error, or `signal`'s reason.
 */
export const openPinnedConnection = async (
  checked: CheckedDestination,
  choices: ConnectChoices,
): Promise<PinnedConnection> => {
  const socket = await openSocket(checked, choices);
  let isTaken = false;
  const client = new Client(`https://${checked.destination.authority}`, {
    // The one socket, never another: who finds it closed must have a new one checked.
    connect: (_options, callback) => {
      if (isTaken) return queueMicrotask(() => callback(new Error('the connection is closed'), null));
      isTaken = true;
      // The client is not ready for an answer within the question.
      queueMicrotask(() => callback(null, socket));
    },
    ...{ allowH2: false, pipelining: 1, maxHeaderSize: HEADER_BYTES_MAX, keepAliveTimeout: IDLE_TIMEOUT_MS },
    // The attempt has one time-out for all.
    ...{ keepAliveMaxTimeout: IDLE_TIMEOUT_MS, headersTimeout: 0, bodyTimeout: 0 },
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
    post: async (path, request) => {
      const answer = await send(client, path, request, destroy);
      hasServed = true;
      return answer;
    },
    isOpen: () => !socket.destroyed && !socket.readableEnded && socket.writable,
    hasServed: () => hasServed,
    destroy,
  };
};

const openSocket = (checked: CheckedDestination, choices: ConnectChoices): Promise<TLSSocket> => {
  const { destination, addresses } = checked;
  const { secureContext, session, onSession, signal } = choices;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({
      ...{ host: destination.host, port: destination.port, servername: destination.serverName },
      // Node asks for no address but through here; of an IP address it does not ask.
      lookup: (_host, { all }, callback) => {
        const [first] = addresses;
        if (all === true || first === undefined) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      ...{ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: CONNECT_ATTEMPT_TIMEOUT_MS },
      ...{ secureContext, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] },
      ...(session === undefined ? {} : { session }),
    });
    const cancel = (): void => void socket.destroy(toError(signal.reason));
    signal.addEventListener('abort', cancel, { once: true });
    socket.setNoDelay(true);
    socket.on('session', onSession);
    socket.once('error', reject);
    // A receiver that hangs up before the handshake is over does so without an error.
    const closedEarly = () => reject(Object.assign(new Error('closed before it was secure'), { code: 'ECONNRESET' }));
    socket.once('close', closedEarly);
    socket.once('secureConnect', () => {
      signal.removeEventListener('abort', cancel);
      socket.off('error', reject);
      socket.off('close', closedEarly);
      // Whoever uses it hears of failures by its close.
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('close', () => signal.removeEventListener('abort', cancel));
  });
};

const send = (
  client: Client,
  path: string,
  { headers, body }: SignedPost,
  destroy: (error: Error) => void,
): Promise<Answer> => {
  return new Promise((resolve, reject) => {
    let answer: Answer = { statusCode: 0, retryAfter: undefined };
    let bytes = 0;
    client.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart: () => undefined,
        onResponseStart(_controller, statusCode, fields) {
          const retryAfter = fields['retry-after'];
          if (statusCode >= FINAL_STATUS_MIN) {
            answer = { statusCode, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined };
          }
        },
        onResponseData(_controller, chunk) {
          bytes += chunk.length;
          if (bytes <= ANSWER_BYTES_MAX) return;
          resolve(answer);
          // The rest is nobody's business: the connection goes with it.
          destroy(new Error('the answer is too long'));
        },
        onResponseEnd: () => resolve(answer),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
};

const toError = (reason: unknown): Error => {
  return reason instanceof Error ? reason : new Error('cut off');
};
