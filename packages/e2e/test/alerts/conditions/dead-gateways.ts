import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { inject } from 'vitest';
import type { Caller } from '../callers.ts';
import type { Condition } from '../condition.ts';
import { times } from '../product.ts';

/** More than one segment of the journal holds. */
const SEGMENT_REQUESTS = 1_050;
const WAIT_MS = 30_000;
const journals = (): string => join(inject('dataDir'), 'usage-journal');

/** A gateway process whose lease has expired. */
export const gatewayThatDied: Condition = {
  alerts: ['GatewayDied'],
  async begin(product) {
    const expired = () => product.watch.read('billing', 'billing_holders_expired_total');
    const before = await expired();
    const lease = "INSERT INTO holders VALUES ($1, 'http://127.0.0.1:9', now() - interval '1 hour')";
    await product.sql('billing', lease, [randomUUID()]);
    await waitFor(async () => (await expired()) > before || undefined, { timeoutMs: WAIT_MS });
  },
};

/** A journal of a later release that this one cannot read. */
export const journalOfALaterRelease = (): Condition => {
  const owner = randomUUID();
  return {
    alerts: ['UsageJournalsLeft'],
    async begin(product) {
      await writeFile(join(journals(), `${owner}.1.jsonl`), '{"v":2}\n');
      const left = () => product.watch.read('inference-gateway', 'usage_journals_left');
      await waitFor(async () => (await left()) > 0 || undefined, { timeoutMs: WAIT_MS });
    },
    async end() {
      for (const file of [`${owner}.1.jsonl`, `${owner}.lock`]) await rm(join(journals(), file), { force: true });
    },
  };
};

/**
 * A missing journal directory, so that the next segment cannot be opened. Requires more requests than one segment
 * holds.
 */
export const journalThatCannotBeWritten = (caller: Caller): Condition => ({
  alerts: ['UsageJournalFailing'],
  async begin() {
    await rename(journals(), `${journals()}-away`);
    await times(SEGMENT_REQUESTS, 16, () => caller.complete('Hello. [[status=503]]'));
  },
  async end() {
    await rename(`${journals()}-away`, journals());
  },
});
