import { readdirSync, readFileSync } from 'node:fs';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chat, connect } from '../support/partner.ts';
import { registerApp, signUp, subscribe } from '../support/people.ts';
import { type Caller, fundedCaller } from './callers.ts';
import type { Condition } from './condition.ts';
import {
  guessedPasswords,
  mailsThatStay,
  reportedApp,
  reusedCodes,
  suspensionThatIsStuck,
} from './conditions/accounts.ts';
import {
  expiredCertificate,
  fewFileDescriptors,
  servicesThatHang,
  serviceThatDies,
  serviceThatStutters,
} from './conditions/availability.ts';
import { gatewayThatDied, journalOfALaterRelease, journalThatCannotBeWritten } from './conditions/dead-gateways.ts';
import {
  billingWithoutAccounts,
  exhaustedPool,
  expiringCertification,
  failingProvider,
  lockedAccounts,
  lockedUsageRecords,
  lyingProvider,
  refusedUsageRecords,
  unknownKeys,
} from './conditions/inference.ts';
import {
  brokerThatIsGone,
  consumerThatFails,
  consumerThatStands,
  factOfTheEarlierState,
  relayLockThatIsTaken,
  restoredDatabase,
  streamThatFills,
  streamThatIsLost,
  subscriptionsThatCannotBeRead,
  unreadableMessage,
} from './conditions/messaging.ts';
import {
  costBeyondWallet,
  manyOpenRequests,
  mismatchedPayment,
  outcomesThatNeverCame,
  twoEnds,
  unknownOutcomes,
  usageOfNobody,
} from './conditions/money.ts';
import { itemThatKeepsFailing, paymentProviderThatIsGone, paymentWithoutEvents } from './conditions/payments.ts';
import { receiversThatAreGone, workersWithoutLanes } from './conditions/webhooks.ts';
import { openProduct, type Product } from './product.ts';
import { checkRules, hasPromtool, testRules } from './promtool.ts';
import { rules } from './rules.ts';
import { createWatch } from './watch.ts';

const RUNBOOKS = new URL('../../../../docs/runbooks/', import.meta.url).pathname;
const OWNERS = ['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'] as const;
/** Longer than the longest range of a rule. */
const QUIET_MINUTES = 65;
const START_MS = 60_000;

/** Conditions that hold at the same time, with the duration. Each scene starts after the product has recovered. */
const scenes = (caller: Caller): Record<string, { minutes: number; conditions: Condition[] }> => ({
  'people and receivers': {
    minutes: 26,
    conditions: [
      guessedPasswords,
      reportedApp,
      suspensionThatIsStuck(),
      receiversThatAreGone(),
      mailsThatStay,
      unknownKeys,
    ],
  },
  'the provider': { minutes: 12, conditions: [failingProvider(caller), reusedCodes] },
  'the routes': { minutes: 4, conditions: [lyingProvider(caller), expiringCertification()] },
  'usage records': { minutes: 3, conditions: [lockedUsageRecords(caller)] },
  // Answers wait for the database where the journal fails, so that must not be locked.
  'the usage journal': { minutes: 3, conditions: [journalThatCannotBeWritten(caller)] },
  'dead gateways': { minutes: 5, conditions: [gatewayThatDied, journalOfALaterRelease()] },
  'many requests': {
    minutes: 17,
    conditions: [
      manyOpenRequests(),
      twoEnds(caller),
      usageOfNobody(caller),
      mismatchedPayment(caller),
      costBeyondWallet(),
    ],
  },
  'connections of the database': { minutes: 7, conditions: [exhaustedPool(caller)] },
  'unknown outcomes': { minutes: 17, conditions: [unknownOutcomes(caller), lockedAccounts(caller)] },
  'what billing has': {
    minutes: 12,
    conditions: [billingWithoutAccounts(caller), relayLockThatIsTaken(), factOfTheEarlierState],
  },
  'a stream': { minutes: 8, conditions: [streamThatFills()] },
  consumers: { minutes: 25, conditions: [unreadableMessage, consumerThatStands(), consumerThatFails()] },
  messages: {
    minutes: 7,
    conditions: [
      outcomesThatNeverCame,
      streamThatIsLost,
      restoredDatabase,
      refusedUsageRecords(caller),
      workersWithoutLanes,
    ],
  },
  'the broker': { minutes: 4, conditions: [brokerThatIsGone()] },
  processes: {
    minutes: 8,
    conditions: [fewFileDescriptors(), serviceThatStutters(), subscriptionsThatCannotBeRead, expiredCertificate()],
  },
  'a payment provider that is gone': { minutes: 9, conditions: [paymentProviderThatIsGone(caller)] },
  'events of payments': { minutes: 19, conditions: [paymentWithoutEvents(caller), itemThatKeepsFailing] },
  'dying processes': { minutes: 6, conditions: [serviceThatDies] },
  'hanging processes': { minutes: 12, conditions: [servicesThatHang] },
});
const names = Object.keys(scenes({} as Caller));

describe('alerts, on real processes whose scrapes are given simulated times', () => {
  const watch = createWatch();
  const fired = new Set<string>();
  let product: Product;
  let caller: Caller;

  const minute = async (): Promise<void> => {
    await watch.minute();
    for (const { alert } of watch.firing()) fired.add(alert);
  };

  beforeAll(async () => {
    product = await openProduct(watch);
    // The console starts last, after its pages are built.
    await waitFor(async () => (await product.stack()).processes['console'] !== undefined || undefined, {
      timeoutMs: START_MS,
    });
    for (const [job, { internal_url: url }] of Object.entries((await product.stack()).processes)) {
      if (url !== undefined) watch.addTarget({ job, pod: `${job}-1`, url });
    }
    caller = await fundedCaller();
  });
  afterAll(() => product.close());

  test('no alert fires while the product works', async () => {
    const app = await registerApp(await signUp('business'));
    const user = await signUp('personal');
    await subscribe(user);
    const { accessToken } = await connect(user, app);
    for (let index = 0; index < QUIET_MINUTES; index += 1) {
      if (index % 10 === 0) expect((await chat(accessToken, 'Hello.')).status).toBe(200);
      if (index % 10 === 0) expect((await caller.complete('Hello.')).status).toBe(200);
      await minute();
      expect(watch.active()).toEqual([]);
    }
  });

  test.each(names)('%s', async (name) => {
    const { minutes, conditions } = scenes(caller)[name] ?? { minutes: 0, conditions: [] };
    const expected = conditions.flatMap(({ alerts }) => alerts).toSorted();
    const isActive = (alert: string) => watch.active().includes(alert);
    // Earlier samples stay in range for a while, and the product recovers in real time.
    await waitFor(async () => {
      if (expected.some(isActive)) await minute();
      return !expected.some(isActive);
    });
    const told = new Set<string>();
    try {
      await Promise.all(conditions.map((condition) => condition.begin?.(product)));
      for (let index = 0; index < minutes; index += 1) {
        await Promise.all(conditions.map((condition) => condition.eachMinute?.(product, index)));
        await minute();
        for (const { alert } of watch.firing()) told.add(alert);
      }
    } finally {
      for (const condition of conditions.toReversed()) await condition.end?.(product);
    }
    expect(expected.filter((alert) => !told.has(alert))).toEqual([]);
  });

  test('every alert fires once', () => {
    expect(rules.map(({ alert }) => alert).filter((alert) => !fired.has(alert))).toEqual([]);
  });

  test('every query of a runbook is valid', async () => {
    const pages = readdirSync(RUNBOOKS).map((file) => readFileSync(`${RUNBOOKS}${file}`, 'utf8'));
    const queries = pages.flatMap((page) => [...page.matchAll(/`(SELECT [^`<]+)`/g)].map(([, query = '']) => query));
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) {
      // A runbook does not name the database; one success among the owners suffices.
      const answers = await Promise.allSettled(OWNERS.map((service) => product.sql(service, query)));
      expect(
        answers.some(({ status }) => status === 'fulfilled'),
        query,
      ).toBe(true);
    }
  });

  test('Prometheus finds the same alerts', (context) => {
    if (!hasPromtool()) {
      process.stderr.write(
        'SKIPPED: no promtool on this machine, so Prometheus has not checked the rules and our evaluation',
      );
      context.skip();
    }
    expect(checkRules()).toContain('SUCCESS');
    expect(testRules(watch.store(), watch.elapsed())).toBe('');
  });
});
