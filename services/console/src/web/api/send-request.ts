import { ApiError, readApiError } from './api-error.ts';
import { type Answer, type Input, type OperationName, operations } from './operations.ts';

/** Longer than the slowest route of the console, which checks a webhook's destination. */
const TIMEOUT_MS = 30_000;

export interface TransportOptions {
  /** Origin of the API; empty for the page's origin. */
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs?: number;
}

export interface SendOptions {
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Longer than the largest export takes. */
const DOWNLOAD_TIMEOUT_MS = 300_000;

/** Sends requests of the contract. Rejects with ApiError, or with the reason of a signal that aborted. */
export interface Transport {
  readonly send: <K extends OperationName>(operation: K, input: Input<K>, options?: SendOptions) => Promise<Answer<K>>;
  /** Fetches an alternative media type of the answer as a file. */
  readonly download: <K extends OperationName>(
    operation: K,
    input: Input<K>,
    options: SendOptions & { accept: string },
  ) => Promise<Blob>;
}

interface AnyInput {
  readonly params?: Record<string, string>;
  readonly query?: Record<string, string | number | boolean | undefined>;
  readonly body?: unknown;
  readonly file?: Blob;
}

/** Creates the transport of the pages. */
export const createTransport = (options: TransportOptions): Transport => ({
  send: async <K extends OperationName>(operation: K, input: Input<K>, { token, signal }: SendOptions = {}) => {
    const limits = { signal, timeoutMs: options.timeoutMs ?? TIMEOUT_MS };
    const headers = { Accept: 'application/json, image/*', ...authorizationOf(token) };
    const response = await exchange(options, { operation, input, headers, ...limits });
    // The services check their responses against the contract, so the body has the contract's type.
    return (await readAnswer(response, signal)) as Answer<K>;
  },
  download: async (operation, input, { token, signal, accept }) => {
    const limits = { signal, timeoutMs: options.timeoutMs ?? DOWNLOAD_TIMEOUT_MS };
    const headers = { Accept: accept, ...authorizationOf(token) };
    const response = await exchange(options, { operation, input, headers, ...limits });
    return readBody(response, signal, () => response.blob());
  },
});

/** Sends one request and returns its answer. Rejects with ApiError if there is none or it is an error. */
const exchange = async <K extends OperationName>(
  { baseUrl, fetch }: TransportOptions,
  {
    operation,
    input,
    headers,
    signal,
    timeoutMs,
  }: {
    operation: K;
    input: Input<K>;
    headers: Record<string, string>;
    signal: AbortSignal | undefined;
    timeoutMs: number;
  },
): Promise<Response> => {
  const { method, path } = operations[operation];
  // Input<K> has at most these members, by definition.
  const parts = input as AnyInput;
  const timeout = AbortSignal.timeout(timeoutMs);
  const request: RequestInit = {
    method,
    // The pages cache responses, so the browser must not.
    cache: 'no-store',
    headers: { ...headers, ...contentTypeOf(parts) },
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  };
  const content = contentOf(parts);
  if (content !== undefined) request.body = content;
  const response = await fetch(`${baseUrl}${urlFor(path, parts)}`, request).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw timeout.aborted
      ? new ApiError({ status: 0, code: 'timeout', message: 'No answer came in time.' }, cause)
      : new ApiError({ status: 0, code: 'network_error', message: 'The service could not be reached.' }, cause);
  });
  if (!response.ok) throw await readApiError(response);
  return response;
};

/** Fills a path template and appends the query, omitting undefined values. */
export const urlFor = (path: string, { params = {}, query = {} }: Pick<AnyInput, 'params' | 'query'>): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? filled : `${filled}?${search}`;
};

const authorizationOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { Authorization: `Bearer ${token}` };

const contentTypeOf = ({ body, file }: AnyInput): Record<string, string> => ({
  ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  ...(file === undefined ? {} : { 'Content-Type': file.type || 'application/octet-stream' }),
});

const contentOf = ({ body, file }: AnyInput): NonNullable<RequestInit['body']> | undefined =>
  file ?? (body === undefined ? undefined : JSON.stringify(body));

const readAnswer = async (response: Response, signal: AbortSignal | undefined): Promise<unknown> => {
  if (response.status === 204) return undefined;
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  // Pictures are returned as `data:` URLs: an <img> cannot send the session's token.
  return readBody(response, signal, () => (isJson ? response.json() : toDataUrl(response)));
};

const readBody = async <T>(response: Response, signal: AbortSignal | undefined, read: () => Promise<T>): Promise<T> => {
  try {
    return await read();
  } catch (cause) {
    signal?.throwIfAborted();
    const requestId = response.headers.get('x-request-id') ?? undefined;
    const message = 'The answer could not be read.';
    throw new ApiError({ status: 0, code: 'unreadable_answer', message, requestId }, cause);
  }
};

const toDataUrl = async (response: Response): Promise<string> => {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const type = response.headers.get('content-type') ?? 'application/octet-stream';
  return `data:${type};base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`;
};
