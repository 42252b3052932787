import type { Knex } from 'knex';
import type { Messaging } from '../connection/connect-messaging.ts';
import { GAP_QUICK_DELIVERIES } from './failure.ts';
import type { Delivery } from './parse-message.ts';

/** Runs inside the transaction that records the events as handled. */
export type Effect = (trx: Knex.Transaction, deliveries: readonly Delivery[]) => Promise<void>;

export interface HandlerDeps {
  readonly messaging: Messaging;
  readonly database: Knex;
  readonly consumer: string;
  /** Runs before the transaction, in which some of the deliveries may turn out to need no effect. */
  readonly prepare: (deliveries: readonly Delivery[]) => Promise<Effect>;
  /** Rejects while a service that `prepare` asks is away. */
  readonly probe: (() => Promise<unknown>) | undefined;
  readonly maxDeliver: number;
  readonly ordered: boolean;
  /** Messages in one transaction. */
  readonly batch: number;
}

/** Something without which no message can be handled. */
export type Requirement = 'database' | 'dependency';

/** If a requirement is down, the consumer waits for it before it takes more messages. */
export interface HandleResult {
  readonly down: Requirement | undefined;
}

/** Crashes and outages use up deliveries without an answer. So many are granted on top. */
const UNANSWERED_DELIVERIES_MAX = 10;

/** Returns how often a message is delivered before it is parked without another try. */
export const deliveriesGranted = ({ maxDeliver, ordered }: HandlerDeps): number => {
  const waits = ordered ? GAP_QUICK_DELIVERIES + maxDeliver : 0;
  return maxDeliver + waits + UNANSWERED_DELIVERIES_MAX;
};
