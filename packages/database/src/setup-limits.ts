import type { DatabaseOptions } from './connection-config.ts';

/**
 * Limits of a connection that provisions or migrates. No request waits for it, so a busy machine or a slow disk is no
 * reason to give up: PostgreSQL copies a whole template for each new database, and one service waits for the next.
 */
export const setupLimits = {
  connectTimeoutMs: 60_000,
  acquireTimeoutMs: 60_000,
  statementTimeoutMs: 600_000,
  lockTimeoutMs: 600_000,
} as const satisfies DatabaseOptions;
