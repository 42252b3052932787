import type { Clock } from '@svc/service-kit';
import type { BillingClient } from '../billing-client.ts';

/**
 * Returns the share of a week's plan that people typically spend on an app, as a whole percentage; null if unknown.
 * Never rejects.
 */
export type FindTypicalUse = (clientId: string) => Promise<number | null>;

/** A median over weeks changes little within an hour. */
const CACHE_MS = 3_600_000;
/** While billing does not respond, one page per minute waits for it. */
const RETRY_MS = 60_000;
const CACHE_ENTRIES_MAX = 1_000;

interface Entry {
  readonly percent: Promise<number | null>;
  expiresAtMs: number;
}

/** Creates the cached lookup. Concurrent pages share one call. */
export const createTypicalUse = ({
  billing,
  clock,
}: {
  readonly billing: Pick<BillingClient, 'readTypicalUse'>;
  readonly clock: Clock;
}): FindTypicalUse => {
  const entries = new Map<string, Entry>();
  const ask = (clientId: string, nowMs: number): Entry => {
    const percent = billing.readTypicalUse(clientId).catch(() => {
      entry.expiresAtMs = nowMs + RETRY_MS;
      return null;
    });
    const entry: Entry = { percent, expiresAtMs: nowMs + CACHE_MS };
    return entry;
  };
  return (clientId) => {
    const nowMs = clock().getTime();
    const known = entries.get(clientId);
    if (known !== undefined && nowMs < known.expiresAtMs) return known.percent;
    const entry = ask(clientId, nowMs);
    entries.delete(clientId);
    entries.set(clientId, entry);
    const [oldest] = entries.keys();
    if (entries.size > CACHE_ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
    return entry.percent;
  };
};
