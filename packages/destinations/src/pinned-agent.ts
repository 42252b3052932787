import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { CheckedDestination } from './check-destination.ts';
import {
  type Answer,
  AnswerUnfinished,
  type BoundedGet,
  openPinnedConnection,
  type PinnedConnection,
  type ReadAnswer,
  type SignedPost,
} from './pinned-connection.ts';

/** TLS sessions by destination. Resuming one saves a handshake message and a signature. */
interface TlsSessions {
  readonly find: (key: string) => Buffer | undefined;
  readonly remember: (key: string, session: Buffer) => void;
}

/** Time from the verification of a certificate to the next. */
const SESSION_MS_MAX = 300_000;
const SESSIONS_MAX = 1_000;

/** Keeps the newest session of each destination for at most five minutes. */
export const createTlsSessions = (nowMs: () => number): TlsSessions => {
  const sessions = new Map<string, { session: Buffer; endsAtMs: number }>();
  return {
    find(key) {
      const found = sessions.get(key);
      if (found === undefined || found.endsAtMs > nowMs()) return found?.session;
      sessions.delete(key);
      return undefined;
    },
    remember(key, session) {
      // A session that resumes an earlier one ends with it, as the certificate was verified for that one.
      const endsAtMs = Math.min(sessions.get(key)?.endsAtMs ?? Number.POSITIVE_INFINITY, nowMs() + SESSION_MS_MAX);
      sessions.delete(key);
      sessions.set(key, { session, endsAtMs });
      const oldest = sessions.keys().next();
      if (sessions.size > SESSIONS_MAX && oldest.done !== true) sessions.delete(oldest.value);
    },
  };
};

/** Connections to checked addresses. Those of POST requests are kept alive. */
export interface PinnedAgent {
  /**
   * Sends a POST to one of the checked addresses and to no other. Rejects with the cause if no answer arrives, and with
   * AnswerUnfinished if only its beginning does. If `signal` aborts, closes the connection and rejects likewise.
   */
  readonly post: (checked: CheckedDestination, request: SignedPost, signal: AbortSignal) => Promise<Answer>;
  /** Sends a GET in the same way, on a connection that closes afterwards. Follows no redirect. */
  readonly get: (checked: CheckedDestination, request: BoundedGet, signal: AbortSignal) => Promise<ReadAnswer>;
  readonly openSockets: () => number;
  readonly destroy: () => void;
}

/** An app has one attempt at a time, and many apps may share a receiver. */
const IDLE_PER_DESTINATION_MAX = 256;
const IDLE_MAX = 1_024;
/** Tries on kept connections, which the receiver may close while a request is on its way. */
const STALE_MAX = 3;

/**
 * Creates the agent for all requests of a process. It speaks TLS 1.2 or newer, and verifies certificates against the destination's name with
 * the system authorities and those of `extraCaFile`. It ignores the proxy variables of the environment.
 */
export const createPinnedAgent = (options: { extraCaFile?: string | undefined } = {}): PinnedAgent => {
  const extra = options.extraCaFile === undefined ? [] : [readFileSync(options.extraCaFile, 'utf8')];
  // Parsing the authorities for each connection would cost more than the handshake.
  const secureContext = createSecureContext({ ca: [...getCACertificates('default'), ...extra], minVersion: 'TLSv1.2' });
  const sessions = createTlsSessions(() => performance.now());
  const open = new Set<PinnedConnection>();
  const idle = createIdleConnections();
  const connectTo = async (checked: CheckedDestination, signal: AbortSignal): Promise<PinnedConnection> => {
    const sessionKey = `${checked.destination.serverName} ${checked.destination.host}:${checked.destination.port}`;
    const connection = await openPinnedConnection(checked, {
      secureContext,
      signal,
      session: sessions.find(sessionKey),
      onSession: (session) => sessions.remember(sessionKey, session),
      onClose: () => {
        open.delete(connection);
        idle.remove(connection);
      },
    });
    open.add(connection);
    return connection;
  };
  return {
    async post(checked, request, signal) {
      const key = keyOf(checked);
      for (let stale = 0; ; stale += 1) {
        const connection = (stale < STALE_MAX ? idle.take(key) : undefined) ?? (await connectTo(checked, signal));
        const wasUsed = connection.hasServed();
        try {
          const answer = await untilAborted(connection, signal, () =>
            connection.post(checked.destination.path, request),
          );
          if (connection.isOpen()) idle.keep(key, connection);
          return answer;
        } catch (error) {
          connection.destroy(new Error('the request failed'));
          if (!wasUsed || signal.aborted || error instanceof AnswerUnfinished) throw error;
        }
      }
    },
    async get(checked, request, signal) {
      const connection = await connectTo(checked, signal);
      try {
        return await untilAborted(connection, signal, () => connection.get(checked.destination.path, request));
      } finally {
        connection.destroy(new Error('the request is over'));
      }
    },
    openSockets: () => open.size,
    destroy: () => {
      for (const connection of open) connection.destroy(new Error('the process stops'));
    },
  };
};

/** A kept connection serves only attempts that have checked the same addresses. */
const keyOf = ({ destination, addresses }: CheckedDestination): string => {
  const pinned = addresses.map(({ address }) => address).sort();
  return `${destination.authority} ${pinned.join(',')}`;
};

const untilAborted = async <T>(
  connection: PinnedConnection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> => {
  signal.throwIfAborted();
  const abort = () => connection.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', abort);
  }
};

const createIdleConnections = () => {
  const byKey = new Map<string, PinnedConnection[]>();
  const keyOfConnection = new Map<PinnedConnection, string>();
  const remove = (connection: PinnedConnection): void => {
    const key = keyOfConnection.get(connection);
    const group = key === undefined ? undefined : byKey.get(key);
    if (key === undefined || group === undefined) return;
    keyOfConnection.delete(connection);
    // Nearly always the last entry.
    group.splice(group.lastIndexOf(connection), 1);
    if (group.length === 0) byKey.delete(key);
  };
  return {
    remove,
    take(key: string): PinnedConnection | undefined {
      for (let last = byKey.get(key)?.at(-1); last !== undefined; last = byKey.get(key)?.at(-1)) {
        remove(last);
        if (last.isOpen()) return last;
      }
      return undefined;
    },
    keep(key: string, connection: PinnedConnection): void {
      const group = byKey.get(key) ?? [];
      if (group.length >= IDLE_PER_DESTINATION_MAX || keyOfConnection.size >= IDLE_MAX) {
        connection.destroy(new Error('too many connections are idle'));
        return;
      }
      byKey.set(key, group);
      group.push(connection);
      keyOfConnection.set(connection, key);
    },
  };
};
