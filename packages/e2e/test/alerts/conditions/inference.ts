import { waitFor } from '@svc/testing';
import { expect } from 'vitest';
import { call } from '../../support/api.ts';
import type { Caller } from '../callers.ts';
import type { Condition } from '../condition.ts';
import { times } from '../product.ts';

/** More than one per ten seconds. */
const FAILURES_A_MINUTE = 8;
/** Above the alert's threshold of one thousand. */
const RECORDS = 1_050;
const WAIT_MS = 30_000;

/** A failing provider, until the gateway's circuit opens. */
export const failingProvider = (caller: Caller): Condition => ({
  alerts: ['ProviderFailures', 'RoutesPaused'],
  async eachMinute() {
    await times(FAILURES_A_MINUTE, 4, async () => {
      expect((await caller.complete('Hello. [[status=503]]')).status).toBe(503);
    });
  },
  // The circuit's pause is over: the first request is the probe.
  async end() {
    await waitFor(async () => (await caller.complete('Hello again.')).status === 200 || undefined, {
      timeoutMs: WAIT_MS,
    });
  },
});

/** A locked table of usage records; failed requests leave records too. */
export const lockedUsageRecords = (caller: Caller): Condition => {
  let release = async (): Promise<void> => undefined;
  return {
    alerts: ['UsageRecordsWaiting'],
    async begin(product) {
      release = await product.hold('inference-gateway', 'LOCK TABLE usage_records IN EXCLUSIVE MODE');
      await times(RECORDS, 16, () => caller.complete('Hello. [[status=503]]'));
    },
    async end(product) {
      await release();
      const waiting = () => product.watch.read('inference-gateway', 'usage_records_waiting');
      await waitFor(async () => (await waiting()) === 0 || undefined, { timeoutMs: WAIT_MS });
    },
  };
};

/** A schema that rejects usage records. */
export const refusedUsageRecords = (caller: Caller): Condition => ({
  alerts: ['UsageRecordsRefused'],
  async begin(product) {
    await product.sql('inference-gateway', 'ALTER TABLE usage_records ADD CONSTRAINT refused CHECK (false) NOT VALID');
    expect((await caller.complete('Hello.')).status).toBe(200);
    const refused = () => product.watch.read('inference-gateway', 'usage_records_refused_total');
    await waitFor(async () => (await refused()) > 0 || undefined, { timeoutMs: WAIT_MS });
  },
  async end(product) {
    await product.sql('inference-gateway', 'ALTER TABLE usage_records DROP CONSTRAINT refused');
  },
});

/** A billing database without access to accounts, so that no request is admitted and users see errors. */
export const billingWithoutAccounts = (caller: Caller): Condition => ({
  alerts: ['AdmissionsFailing', 'InternalErrors', 'HighErrorRate'],
  async begin(product) {
    await product.sql('billing', 'REVOKE ALL ON accounts, wallets FROM CURRENT_USER');
  },
  async eachMinute() {
    await times(FAILURES_A_MINUTE, 4, async () => {
      expect((await caller.complete('Hello.')).status).toBe(503);
      expect((await call('GET', '/v1/gateway/wallet', { token: caller.token })).status).toBe(500);
    });
  },
  async end(product) {
    await product.sql('billing', 'GRANT ALL ON accounts, wallets TO CURRENT_USER');
  },
});

/** Longer than a second, shorter than billing's lock timeout. */
const LOCKED_MS = 1_200;
const LOCK_MINUTES = [0, 4, 8, 12];
const READS = 48;
const ADMISSIONS = 8;

/** Occasional lock waits at billing. */
export const lockedAccounts = (caller: Caller): Condition => ({
  alerts: ['SlowAdmissions', 'SlowRequests'],
  async eachMinute(product, minute) {
    if (!LOCK_MINUTES.includes(minute)) return;
    const release = await product.hold('billing', 'LOCK TABLE accounts, wallets IN ACCESS EXCLUSIVE MODE');
    const admitted = times(ADMISSIONS, ADMISSIONS, () => caller.complete('Hello.'));
    const read = times(READS, READS, () => call('GET', '/v1/gateway/wallet', { token: caller.token }));
    // The wait itself is the condition.
    await new Promise((resolve) => setTimeout(resolve, LOCKED_MS));
    await release();
    await Promise.all([admitted, read]);
  },
});
