/** An answer, its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Its body as JSON, or undefined. */
  readonly body: unknown;
  readonly text: string;
}

/** The text at a path of an answer's body, such as `textAt(answer, 'account', 'email')`. Throws where there is none. */
export const textAt = (answer: Answer, ...path: (string | number)[]): string => {
  let value: unknown = answer.body;
  for (const name of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof value !== 'string') throw new Error(`no text at ${path.join('.')} of ${answer.text}`);
  return value;
};

export interface CallOptions {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly json?: unknown;
  readonly form?: Record<string, string> | string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array<ArrayBuffer> | string;
}

/** Calls over a real socket; redirects are not followed. */
export const call = async (url: string, options: CallOptions = {}): Promise<Answer> => {
  const headers = new Headers(options.headers);
  if (options.token !== undefined) headers.set('authorization', `Bearer ${options.token}`);
  let body: string | Uint8Array<ArrayBuffer> | undefined = options.body;
  if (options.json !== undefined) {
    headers.set('content-type', 'application/json');
    body = JSON.stringify(options.json);
  }
  if (options.form !== undefined) {
    headers.set('content-type', 'application/x-www-form-urlencoded');
    body = typeof options.form === 'string' ? options.form : new URLSearchParams(options.form).toString();
  }
  const method = options.method ?? (body === undefined ? 'GET' : 'POST');
  const response = await fetch(url, { method, headers, redirect: 'manual', ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text), text };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
