import { ApiError } from './api-error.ts';
import type { Answer, Input, OperationName } from './operations.ts';
import type { Transport } from './send-request.ts';

/** Source of the session's token. */
export interface TokenSource {
  /** Returns the token in memory; undefined if no one is signed in. */
  readonly current: () => string | undefined;
  /** Returns true while an account is shown whose session has not been resumed yet. */
  readonly isRestored: () => boolean;
  /** Resumes the session; undefined if there is none. Rejects if that is unknown. */
  readonly renew: () => Promise<string | undefined>;
}

/** Calls routes as the signed-in person. */
export interface ApiClient {
  readonly call: <K extends OperationName>(operation: K, input: Input<K>, signal?: AbortSignal) => Promise<Answer<K>>;
  /** Fetches a route's response in another media type, as a file. */
  readonly download: <K extends OperationName>(operation: K, input: Input<K>, accept: string) => Promise<Blob>;
}

/**
 * Creates the client of the pages. If the session is refused, resumes it and repeats the call once. Repeats a sensitive
 * call once after the person has authenticated again, as `stepUp` does. Services refuse before they change anything, so
 * no call takes effect twice.
 */
export const createClient = (
  transport: Transport,
  tokens: TokenSource,
  stepUp: () => Promise<boolean> = async () => false,
): ApiClient => {
  const withToken = async <T>(send: (token: string | undefined) => Promise<T>): Promise<T> => {
    const token = tokens.isRestored() ? await tokens.renew() : tokens.current();
    try {
      return await send(token);
    } catch (error) {
      if (!(error instanceof ApiError) || token === undefined) throw error;
      // The role has changed: the renewed session shows what it allows now.
      if (error.code === 'role_not_allowed') void tokens.renew().catch(() => undefined);
      if (!error.isSessionRefused && !error.isTokenOutdated) throw error;
      const fresh = tokens.current() === token ? await tokens.renew() : tokens.current();
      if (fresh === undefined) throw error;
      return await send(fresh);
    }
  };
  const withStepUp = async <T>(send: (token: string | undefined) => Promise<T>): Promise<T> => {
    try {
      return await withToken(send);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isStepUpRequired || !(await stepUp())) throw error;
      return await withToken(send);
    }
  };
  return {
    call: (operation, input, signal) => withStepUp((token) => transport.send(operation, input, { token, signal })),
    download: (operation, input, accept) =>
      withStepUp((token) => transport.download(operation, input, { token, accept })),
  };
};
