const TIMEOUT_MS = 10_000;

/** A response of the service; `body` is its JSON, or undefined. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The console session token. */
  readonly token?: string;
  readonly body?: object;
}

/** Calls the service's public API as a business console does. */
export type ConsoleApi = (call: ApiCall) => Promise<ApiAnswer>;

/** Thrown if a call to the service fails. The message names the call and the service's error code, and no secret. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}

/** Creates the API client of one service. Calls throw `RegistrationError` if no response arrives. */
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
      throw new RegistrationError(`${method} ${path} got no response`, { cause });
    }
  };

/** Returns the body of a response with this status. Throws `RegistrationError` otherwise. */
export const expectStatus = (call: Pick<ApiCall, 'method' | 'path'>, answer: ApiAnswer, status: number): unknown => {
  if (answer.status === status) return answer.body;
  const code = readField(readField(answer.body, 'detail'), 'code');
  const told = typeof code === 'string' ? ` ${code}` : '';
  throw new RegistrationError(`${call.method} ${call.path} was answered ${answer.status}${told}`);
};

/** Returns a field of a value that may be an object. */
export const readField = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;

/** Returns a required text field. Throws `RegistrationError` if it is missing. */
export const readText = (value: unknown, name: string): string => {
  const field = readField(value, name);
  if (typeof field === 'string') return field;
  throw new RegistrationError(`a response of the service lacks ${name}`);
};

const readJson = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
