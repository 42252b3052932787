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
