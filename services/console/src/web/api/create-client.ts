import { ApiError } from './api-error.ts';
import type { Answer, Input, OperationName } from './operations.ts';
import type { Transport } from './send-request.ts';

/** Where the session's token comes from. */
export interface TokenSource {
  /** The token in memory; undefined when nobody is signed in. */
  readonly current: () => string | undefined;
  /** Asks for the session again; undefined when there is none any more. Rejects where that cannot be told. */
  readonly renew: () => Promise<string | undefined>;
}

/** Calls routes in the name of whoever is signed in. */
export interface ApiClient {
  readonly call: <K extends OperationName>(operation: K, input: Input<K>, signal?: AbortSignal) => Promise<Answer<K>>;
}

/**
 * Creates the client of the pages. A call whose session is refused asks for the session again and is repeated once: the
 * services refuse before they do anything, so nothing happens twice.
 */
export const createClient = (transport: Transport, tokens: TokenSource): ApiClient => ({
  call: async (operation, input, signal) => {
    const token = tokens.current();
    try {
      return await transport.send(operation, input, { token, signal });
    } catch (error) {
      if (!(error instanceof ApiError) || token === undefined) throw error;
      if (!error.isSessionRefused && !error.isTokenOutdated) throw error;
      const fresh = tokens.current() === token ? await tokens.renew() : tokens.current();
      if (fresh === undefined) throw error;
      return await transport.send(operation, input, { token: fresh, signal });
    }
  },
});
