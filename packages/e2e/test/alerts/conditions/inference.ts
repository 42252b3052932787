import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { expect, inject } from 'vitest';
import { call } from '../../support/api.ts';
import type { Caller } from '../callers.ts';
import type { Condition } from '../condition.ts';
import { type Product, times } from '../product.ts';

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

/** A provider that reports more output than the request allows. */
export const lyingProvider = (caller: Caller): Condition => ({
  alerts: ['ImplausibleUsage'],
  async eachMinute(_product, minute) {
    if (minute === 1) expect((await caller.complete('Hello. [[completion_tokens=5000]]')).status).toBe(200);
  },
});

const DAY_MS = 86_400_000;

/** A certification that expires in two days. */
export const expiringCertification = (): Condition => {
  let file = '';
  let text = '';
  return {
    alerts: ['CertificationExpiring', 'CertificationExpiresSoon'],
    async begin(product) {
      file = join(inject('dataDir'), 'routes.yaml');
      text = await readFile(file, 'utf8');
      const soon = new Date(Date.now() + 2 * DAY_MS).toISOString();
      await writeFile(file, text.replace(/expires_at: [0-9-]+/, `expires_at: ${soon}`));
      await waitForSeconds(product, (seconds) => seconds < 3 * (DAY_MS / 1000));
    },
    async end(product) {
      await writeFile(file, text);
      await waitForSeconds(product, (seconds) => seconds > 30 * (DAY_MS / 1000));
    },
  };
};

const waitForSeconds = async (product: Product, isReached: (seconds: number) => boolean): Promise<void> => {
  const seconds = () =>
    product.watch.read('inference-gateway', 'route_certification_expires_seconds', { route: 'chat-eu' });
  await waitFor(async () => isReached(await seconds()) || undefined, { timeoutMs: WAIT_MS });
};

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
    await product.sql('inference-gateway', 'ALTER TABLE usage_rows ADD CONSTRAINT refused CHECK (false) NOT VALID');
    expect((await caller.complete('Hello.')).status).toBe(200);
    const refused = () => product.watch.read('inference-gateway', 'usage_records_refused_total');
    await waitFor(async () => (await refused()) > 0 || undefined, { timeoutMs: WAIT_MS });
  },
  async end(product) {
    await product.sql('inference-gateway', 'ALTER TABLE usage_rows DROP CONSTRAINT refused');
  },
});

/** A billing database without access to accounts, so that no request is admitted and users see errors. */
export const billingWithoutAccounts = (caller: Caller): Condition => ({
  alerts: ['AdmissionsFailing', 'InternalErrors', 'HighErrorRate'],
  async begin(product) {
    await product.sql('billing', 'REVOKE ALL ON accounts, wallets FROM CURRENT_USER');
    // A lease that the key has is spent for some seconds.
    await waitFor(async () => (await caller.complete('Hello.')).status === 503 || undefined, { timeoutMs: WAIT_MS });
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

/** More than a pool of billing and the five that the alert lets wait. */
const READS_OF_LOCKED = 40;

/** A lock that lasts, at which every connection of billing waits. */
export const exhaustedPool = (caller: Caller): Condition => {
  let release = async (): Promise<void> => undefined;
  const reads: Promise<unknown>[] = [];
  return {
    alerts: ['DatabasePoolExhausted'],
    async begin(product) {
      release = await product.hold('billing', 'LOCK TABLE accounts, wallets IN ACCESS EXCLUSIVE MODE');
    },
    async eachMinute(product) {
      // Earlier reads end after five seconds, without their answer.
      const read = () => call('GET', '/v1/gateway/wallet', { token: caller.token });
      reads.push(times(READS_OF_LOCKED, READS_OF_LOCKED, read));
      const waiting = () => product.watch.read('billing', 'database_pool_waiting');
      await waitFor(async () => (await waiting()) >= 5 || undefined, { timeoutMs: WAIT_MS });
    },
    async end() {
      await release();
      await Promise.all(reads);
    },
  };
};

const REFUSALS_A_MINUTE = 60;

/** Callers whose keys the gateway does not know. */
export const unknownKeys: Condition = {
  alerts: ['CallersRefused'],
  async eachMinute() {
    const body = { model: 'svc-chat', messages: [{ role: 'user', content: 'Hello.' }] };
    await times(REFUSALS_A_MINUTE, 4, async () => {
      expect((await call('POST', '/v1/chat/completions', { token: 'svc_sk_unknown', body })).status).toBe(401);
    });
  },
};
