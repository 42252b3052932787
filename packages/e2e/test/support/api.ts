import { inject } from 'vitest';

/** Parsed JSON whose shape is checked by assertions, not by types. */
export interface LooseJson {
  [key: string]: LooseJson;
}

/** A response of the product, with its body parsed if it is JSON. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: LooseJson;
  readonly text: string;
}

export interface CallOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly form?: Record<string, string>;
  readonly headers?: Record<string, string>;
}

const CALL_TIMEOUT_MS = 30_000;

/** Calls the product through its ingress, like any client. */
export const call = async (method: string, path: string, options: CallOptions = {}): Promise<Answer> => {
  const { token, body, form, headers } = options;
  const response = await fetch(`${inject('baseUrl')}${path}`, {
    method,
    redirect: 'manual',
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : {}, text };
};
