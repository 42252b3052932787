import { events } from '@svc/contracts';
import { type Consumer, type EventOf, hasSubject, startBatchConsumer } from '@svc/messaging';
import { type EventDraft, storeEvents } from '../events/index.ts';
import type { FactDeps } from './subscription-facts.ts';

const { alertRaised, autoTopUpFailed, keyCreated, keyLimitReached, walletCredited } = events;
const WALLET_SUBJECTS = [alertRaised.subject, autoTopUpFailed.subject, walletCredited.subject] as const;
const KEY_SUBJECTS = [keyCreated.subject, keyLimitReached.subject] as const;
const BATCH = 100;

/** Consumes facts about the wallets of accounts, and sends each to the account's own webhook. */
export const startWalletConsumer = (deps: FactDeps): Consumer =>
  startBatchConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'webhook-dispatcher_wallet-events',
    subjects: WALLET_SUBJECTS,
    batch: BATCH,
    handle: async (trx, facts) => {
      await storeEvents(trx, facts.flatMap(toWalletDrafts), deps);
    },
  });

/** Consumes facts about the API keys of accounts, and sends each to the account's own webhook. */
export const startKeyConsumer = (deps: FactDeps): Consumer =>
  startBatchConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'webhook-dispatcher_key-events',
    subjects: KEY_SUBJECTS,
    batch: BATCH,
    handle: async (trx, facts) => {
      await storeEvents(trx, facts.map(toKeyDraft), deps);
    },
  });

const originOf = ({
  id: factId,
  data: { svc_user_id: ownerId },
}: EventOf<(typeof WALLET_SUBJECTS | typeof KEY_SUBJECTS)[number]>) => ({
  ownerId,
  userId: ownerId,
  factId,
});

const toWalletDrafts = (fact: EventOf<(typeof WALLET_SUBJECTS)[number]>): EventDraft[] => {
  const origin = originOf(fact);
  if (hasSubject(fact, walletCredited.subject)) {
    const { amount_micros, balance_micros, currency, source } = fact.data;
    return [{ ...origin, event: 'wallet.topped_up', data: { amount_micros, balance_micros, currency, source } }];
  }
  if (hasSubject(fact, autoTopUpFailed.subject)) {
    const { amount_micros, currency, reason } = fact.data;
    return [{ ...origin, event: 'wallet.top_up_failed', data: { amount_micros, currency, reason } }];
  }
  const { subject, amount_micros: balance_micros, limit_micros: below_micros, currency } = fact.data;
  if (subject !== 'wallet' || currency === null) return [];
  return [{ ...origin, event: 'wallet.low', data: { balance_micros, below_micros, currency } }];
};

const toKeyDraft = (fact: EventOf<(typeof KEY_SUBJECTS)[number]>): EventDraft => {
  const origin = originOf(fact);
  if (hasSubject(fact, keyCreated.subject)) {
    const { key_id, name, prefix } = fact.data;
    return { ...origin, event: 'api_key.created', data: { key_id, name, prefix } };
  }
  const { key_id, name, spent_micros, limit_micros, resets_at } = fact.data;
  return { ...origin, event: 'api_key.limit_reached', data: { key_id, name, spent_micros, limit_micros, resets_at } };
};
