import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { inject } from 'vitest';
import type { Condition } from '../condition.ts';

const WAIT_MS = 30_000;
const journals = (): string => join(inject('dataDir'), 'usage-journal');

/** A gateway process whose lease has expired. */
export const gatewayThatDied: Condition = {
  alerts: ['GatewayDied'],
  async begin(product) {
    const expired = () => product.watch.read('billing', 'billing_holders_expired_total');
    const before = await expired();
    const lease = "INSERT INTO holders (holder_id, expires_at) VALUES ($1, now() - interval '1 hour')";
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
export const journalThatCannotBeWritten: Condition = {
  alerts: ['UsageJournalFailing'],
  async begin() {
    await rename(journals(), `${journals()}-away`);
  },
  async end() {
    await rename(`${journals()}-away`, journals());
  },
};
