import { createHttpClient, type HttpClient } from '../../http-client/index.ts';

/** Shorter than the usual keep-alive of servers (5 s and more), so that requests rarely hit a closing connection. */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MS_MAX = 60_000;

/** Creates the HTTP client for providers. It reuses connections and does not limit their number. */
export const createProviderClient = (options: { readonly connectTimeoutMs: number }): HttpClient =>
  createHttpClient({
    connectTimeoutMs: options.connectTimeoutMs,
    connectionsMax: Number.POSITIVE_INFINITY,
    keepAliveMs: KEEP_ALIVE_MS,
    keepAliveMsMax: KEEP_ALIVE_MS_MAX,
  });
