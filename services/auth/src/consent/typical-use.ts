import type { Clock } from '@svc/service-kit';
import type { BillingClient } from '../billing-client.ts';

/** Returns the whole percentage of a week's plan that people typically spend on an app; null if that is unknown. Never rejects. */
export type FindTypicalUse = (clientId: string) => Promise<number | null>;

/** It is a median over weeks: an hour changes little. */
const CACHE_MS = 3_600_000;
/** While billing gives no answer, one page a minute waits for it. */
const RETRY_MS = 60_000;
const CACHE_ENTRIES_MAX = 1_000;

interface Entry {
  readonly percent: Promise<number | null>;
  expiresAtMs: number;
}

/** Creates the cached question to billing. Pages that ask together share one call. */
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
