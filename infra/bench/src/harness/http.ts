import { connect, type Socket } from 'node:net';
import { Pool } from 'undici';

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly token?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A complete response. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Returns a field of a JSON response as text. Throws if it is missing. */
  readonly field: (name: string) => string;
}

/** A client with keep-alive connections. */
export interface Client {
  readonly call: (call: Call) => Promise<Answer>;
  /** Like `call`, but throws for any other status. */
  readonly expect: (status: number, call: Call) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

/** Opens a client for one server; connections are opened on demand. */
export const openClient = (url: string, connections: number): Client => {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const call = async ({ method = 'GET', path, token, json, form, headers }: Call): Promise<Answer> => {
    const { statusCode, body } = await pool.request({
      method,
      path,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      body: json !== undefined ? JSON.stringify(json) : form !== undefined ? String(new URLSearchParams(form)) : null,
    });
    const text = await body.text();
    return { status: statusCode, text, field: (name) => fieldOf(text, name) };
  };
  return {
    call,
    expect: async (status, request) => {
      const answer = await call(request);
      if (answer.status !== status) {
        throw new Error(`${request.method ?? 'GET'} ${request.path}: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
      return answer;
    },
    close: () => pool.close(),
  };
};

const fieldOf = (text: string, name: string): string => {
  const value = name.split('.').reduce<unknown>(
    // Only objects have named fields.
    (parent, part) =>
      typeof parent === 'object' && parent !== null
        ? Object.entries(parent).find(([key]) => key === part)?.[1]
        : undefined,
    JSON.parse(text),
  );
  if (typeof value !== 'string') throw new Error(`the response has no text ${name}: ${text.slice(0, 300)}`);
  return value;
};

/** A client with minimal cost, like the bare driver of a database. */
export interface BareClient {
  /** Posts JSON and returns the body. Throws unless the status is 200. */
  readonly post: (path: string, json: string) => Promise<string>;
  readonly close: () => void;
}

interface Connection {
  readonly socket: Socket;
  received: string;
  readonly resolve: (body: string) => void;
  readonly reject: (error: Error) => void;
}

const CALL_TIMEOUT_MS = 30_000;

/**
 * Supports the HTTP/1.1 that our services use: keep-alive connections, one call at a time on each, bodies with a
 * Content-Length. A full client would cost more per call than the measured work.
 */
export const openBareClient = (url: string, token: string): BareClient => {
  const { hostname, port, host } = new URL(url);
  const head = `HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n`;
  const idle: Connection[] = [];
  const open = new Set<Socket>();
  const dial = (): Connection => {
    const socket = connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1').setTimeout(CALL_TIMEOUT_MS);
    open.add(socket);
    const connection: Connection = { socket, received: '', resolve: () => undefined, reject: () => undefined };
    socket.on('data', (text) => take(connection, String(text), idle));
    socket.on('timeout', () => socket.destroy(new Error('call timeout')));
    socket.on('error', (error) => connection.reject(error));
    socket.on('close', () => {
      // Removes a connection closed while idle; a call on it would never settle.
      const place = idle.indexOf(connection);
      if (place >= 0) idle.splice(place, 1);
      open.delete(socket);
      connection.reject(new Error('the connection was closed'));
    });
    return connection;
  };
  return {
    post: (path, json) =>
      new Promise((resolve, reject) => {
        const connection = idle.pop() ?? dial();
        Object.assign(connection, { received: '', resolve, reject });
        connection.socket.write(`POST ${path} ${head}content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
      }),
    close: () => {
      for (const socket of open) socket.destroy();
    },
  };
};

const take = (connection: Connection, text: string, idle: Connection[]): void => {
  connection.received += text;
  const headEnd = connection.received.indexOf('\r\n\r\n');
  if (headEnd < 0) return;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(connection.received)?.[1]);
  const body = connection.received.slice(headEnd + 4);
  if (body.length < length) return;
  idle.push(connection);
  if (connection.received.startsWith('HTTP/1.1 200 ')) connection.resolve(body);
  else connection.reject(new Error(connection.received.slice(0, 400)));
};
