import { createHttpClient, type HttpClient } from '@svc/http-client';

/** Shorter than what servers commonly keep (5 s and more), so that a request rarely meets a closing connection. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MS_MAX = 60_000;

/** Connections to providers: as many as there are requests in flight, kept for the next ones. */
export const createProviderClient = (options: { readonly connectTimeoutMs: number }): HttpClient =>
  createHttpClient({
    connectTimeoutMs: options.connectTimeoutMs,
    connectionsMax: Number.POSITIVE_INFINITY,
    keepAliveMs: KEEP_ALIVE_MS,
    keepAliveMsMax: KEEP_ALIVE_MS_MAX,
  });
