import { Agent } from 'undici';

/** Shorter than what servers commonly keep (5 s and more), so that a request rarely meets a closing connection. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MS_MAX = 60_000;

/** Connections to providers: as many as there are requests in flight, kept for the next ones. */
export const createDispatcher = (options: { readonly connectTimeoutMs: number }): Agent =>
  new Agent({
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
    connect: { timeout: options.connectTimeoutMs },
  });
