const TIMEOUT_MS = 10_000;

/** An answer of the service; `body` is its JSON, or undefined. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** What a call carries. */
export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The console session token. */
  readonly token?: string;
  readonly body?: object;
}

/** Calls the service's public API as the console of a business does. */
export type ConsoleApi = (call: ApiCall) => Promise<ApiAnswer>;

/** The service did not do what was asked of it. Its message names the call and the service's error code, and no secret. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}

/** Makes calls to one service. They throw `RegistrationError` where no answer comes. */
export const createConsoleApi =
  ({ baseUrl, signal }: { baseUrl: string; signal: AbortSignal }): ConsoleApi =>
  async ({ method, path, token, body }) => {
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: {
          accept: 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await readJson(response) };
    } catch (cause) {
      signal.throwIfAborted();
      throw new RegistrationError(`${method} ${path} was not answered`, { cause });
    }
  };

/** The body of an answer that has this status. Throws `RegistrationError`. */
export const expectStatus = (call: Pick<ApiCall, 'method' | 'path'>, answer: ApiAnswer, status: number): unknown => {
  if (answer.status === status) return answer.body;
  const code = readField(readField(answer.body, 'detail'), 'code');
  const told = typeof code === 'string' ? ` ${code}` : '';
  throw new RegistrationError(`${call.method} ${call.path} was answered ${answer.status}${told}`);
};

/** A field of something that may be an object. */
export const readField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;

/** A text that an answer must have. Throws `RegistrationError`. */
export const readText = (value: unknown, name: string): string => {
  const field = readField(value, name);
  if (typeof field === 'string') return field;
  throw new RegistrationError(`an answer of the service lacks ${name}`);
};

const readJson = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
