import { events, type RestoreEffect } from '@svc/contracts';
import { retryTransaction } from '@svc/database';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import { putBack, reasonOf, type Work } from '../jobs.ts';
import { listLiveOrders } from '../seats/index.ts';
import { listLiveSubscriptions } from '../subscriptions/index.ts';
import { createStripeListener, type ListenerDeps } from './events/listener.ts';
import { DELIVERY_SECONDS_MAX, HANDLED_EVENTS, handleEvent } from './events/receive-event.ts';
import { refreshStoredSubscription, refreshSubscription } from './refresh-subscription.ts';
import {
  CHARGE_KEY,
  CLOCK_SKEW_SECONDS,
  readSubscription,
  secondsBefore,
  type WithheldRequest,
} from './stripe/index.ts';
import { settleCharge, settleSession } from './take-over.ts';

/** An object of Stripe to compare with a restored database. */
interface RestoredItem {
  readonly object: string;
  /** Place in the periodic work that tries again what failed here; null if none does. */
  readonly place: { readonly work: Work; readonly item: string } | null;
  readonly settle: (deps: ListenerDeps) => Promise<unknown>;
}

const PAGE = 100;
/** Maximum age of a checkout that was open at the restored moment. */
const CHECKOUT_SECONDS = 24 * 3600;

/**
 * Lists what may have changed at Stripe since a restored moment. First come the subscriptions and seats that the database has
 * as live: they may have ended since, and a later purchase must not be judged by them. Then sessions and charges paid since,
 * subscriptions created since, and the objects of all events since.
 */
async function* listRestored(
  { database, stripe }: Pick<ListenerDeps, 'database' | 'stripe'>,
  since: Date,
): AsyncGenerator<RestoredItem> {
  for (const list of [listLiveSubscriptions, listLiveOrders]) {
    for (let after = ''; ; ) {
      const ids = await list(database, { after, limit: PAGE });
      for (const id of ids) yield refreshed(id, (deps) => refreshStoredSubscription(deps, id));
      const last = ids.at(-1);
      if (last === undefined) break;
      after = last;
    }
  }
  const seconds = secondsBefore(since);
  const sessions = { created: { gte: seconds - CHECKOUT_SECONDS }, status: 'complete', limit: PAGE } as const;
  for await (const session of stripe.checkout.sessions.list(sessions)) {
    const item = session.client_reference_id;
    const place = item == null ? null : ({ work: 'checkouts', item } as const);
    yield { object: session.id, place, settle: (deps) => settleSession(deps, session) };
  }
  for await (const payment of stripe.paymentIntents.list({ created: { gte: seconds }, limit: PAGE })) {
    if (payment.status !== 'succeeded' || payment.metadata?.[CHARGE_KEY] === undefined) continue;
    yield { object: payment.id, place: null, settle: (deps) => settleCharge(deps, payment) };
  }
  for await (const { id } of stripe.subscriptions.list({ created: { gte: seconds }, status: 'all', limit: PAGE })) {
    yield refreshed(id, (deps) => refreshSubscription(deps, id));
  }
  // Older objects that changed since. An event from before may have been delivered since. Stripe keeps events for 30 days.
  const from = seconds + CLOCK_SKEW_SECONDS - DELIVERY_SECONDS_MAX;
  for await (const event of stripe.events.list({ created: { gte: from }, types: [...HANDLED_EVENTS], limit: PAGE })) {
    yield toItem(event);
  }
}

const refreshed = (id: string, settle: RestoredItem['settle']): RestoredItem => ({
  object: id,
  place: { work: 'subscriptions', item: id },
  settle,
});

const toItem = (event: Stripe.Event): RestoredItem => ({
  object: event.id,
  place: { work: 'events', item: event.id },
  settle: (deps) => handleEvent(createStripeListener(deps), event),
});

/** Objects of Stripe that were compared with a restored database. */
export interface Reconciled {
  readonly reconciled: number;
  /** Objects that could not be settled. The others were. */
  readonly failed: readonly FailedObject[];
}

interface FailedObject {
  readonly object: string;
  readonly reason: string;
}

/** Objects settled at the same time. */
const PARALLEL = 4;
/** Objects in a row that Stripe does not answer about. After that it is away. */
const OUTAGES_MAX = 8;
/** Listed failures. So many have a common cause. */
const FAILED_MAX = 1_000;

/**
 * Reconciles with Stripe after the database was restored to an earlier moment. Recreates lost rows from Stripe's metadata.
 * An object that fails is listed and put back, and the others go on. Idempotent.
 */
export const reconcileWithStripe = (deps: ListenerDeps, since: Date): Promise<Reconciled> =>
  settleRestored(deps, since, async (item) => {
    try {
      await item.settle(deps);
    } catch (error) {
      if (item.place !== null) await putBack(deps, item.place, error);
      throw error;
    }
  });

/** Settles every object that may have changed since. Throws the failure of an outage that lasts. */
const settleRestored = async (
  deps: { readonly database: ListenerDeps['database']; readonly stripe: Stripe },
  since: Date,
  settle: (item: RestoredItem) => Promise<unknown>,
): Promise<Reconciled> => {
  const failed: FailedObject[] = [];
  let reconciled = 0;
  let outages = 0;
  const attempt = async (item: RestoredItem): Promise<void> => {
    try {
      await settle(item);
      reconciled += 1;
      outages = 0;
    } catch (error) {
      outages = error instanceof AppError && error.kind === 'unavailable' ? outages + 1 : 0;
      if (outages > OUTAGES_MAX) throw error;
      if (failed.length < FAILED_MAX) failed.push({ object: item.object, reason: reasonOf(error) });
    }
  };
  for await (const items of inGroups(listRestored(deps, since))) await Promise.all(items.map(attempt));
  return { reconciled, failed };
};

async function* inGroups<T>(items: AsyncIterable<T>): AsyncGenerator<readonly T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < PARALLEL) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

interface PreviewDeps extends ListenerDeps {
  /** Creates a client that sends no request that writes, and notes those instead. */
  readonly dryRun: (note: (request: WithheldRequest) => void) => Stripe;
}

/** Effects that `reconcileWithStripe` would have. */
interface Preview extends Reconciled {
  readonly effects: readonly RestoreEffect[];
}

/** Listed effects. */
const EFFECTS_MAX = 10_000;

/**
 * Lists what `reconcileWithStripe` would do, and changes nothing. Each object is settled by the same code, in a transaction
 * that is rolled back, with a client that only notes what it would write.
 */
export const previewReconcile = async (deps: PreviewDeps, since: Date): Promise<Preview> => {
  const effects = new Map<string, RestoreEffect>();
  const reconciled = await settleRestored(deps, since, async (item) => {
    for (const effect of await effectsOf(deps, item)) {
      // Several objects lead to the same effect: a session, its subscription, and their events.
      const key = `${effect.action} ${effect.object} ${effect.svc_user_id}`;
      if (effects.size < EFFECTS_MAX) effects.set(key, effect);
    }
  });
  return { ...reconciled, effects: [...effects.values()] };
};

/** Carries the effects out of a transaction that is rolled back. */
class RolledBack extends Error {
  readonly effects: readonly RestoreEffect[];
  constructor(effects: readonly RestoreEffect[]) {
    super('rolled back');
    this.effects = effects;
  }
}

const effectsOf = async (deps: PreviewDeps, item: RestoredItem): Promise<readonly RestoreEffect[]> => {
  const settle = async (trx: Knex.Transaction): Promise<never> => {
    const before = await readEnds(trx);
    const withheld: WithheldRequest[] = [];
    const stripe = deps.dryRun((request) => withheld.push(request));
    const dry = { ...deps, database: trx, stripe, relay: { hint: () => undefined } };
    await item.settle(dry);
    throw new RolledBack([...(await effectsAtStripe(dry, withheld)), ...(await listEffects(trx, before))]);
  };
  try {
    // In one snapshot, everything beyond the ends is written by this transaction.
    return await retryTransaction<never>(deps.database, settle, { isolation: 'repeatable read' });
  } catch (error) {
    if (error instanceof RolledBack) return error.effects;
    throw error;
  }
};

/** Path of a subscription in Stripe's API. */
const SUBSCRIPTION = /^\/v1\/subscriptions\/([^/]+)$/;

/** Lists what the withheld requests would do. The refund of a subscription's payment belongs to its cancellation. */
const effectsAtStripe = async (deps: ListenerDeps, withheld: readonly WithheldRequest[]): Promise<RestoreEffect[]> => {
  const effects: RestoreEffect[] = [];
  for (const { method, path } of withheld) {
    const object = SUBSCRIPTION.exec(path)?.[1];
    if (object === undefined) continue;
    const isEnd = method === 'DELETE';
    const svc_user_id = isEnd ? ((await readSubscription(deps, object))?.userId ?? null) : null;
    const action = isEnd ? 'refund_and_cancel' : 'cancel_at_period_end';
    effects.push({ action, svc_user_id, object, amount_micros: null, currency: null });
  }
  return effects;
};

interface Ends {
  readonly posting: number;
  readonly fact: number;
}

const readEnds = async (trx: Knex.Transaction): Promise<Ends> => {
  const { rows } = await trx.raw<{ rows: Ends[] }>(
    `SELECT coalesce((SELECT max(id) FROM ledger_postings), 0) AS posting,
      coalesce((SELECT max(seq) FROM outbox), 0) AS fact`,
  );
  return rows[0] ?? { posting: 0, fact: 0 };
};

/** Lists the changes of wallets and the facts that the transaction has written. */
const listEffects = async (trx: Knex.Transaction, { posting, fact }: Ends): Promise<RestoreEffect[]> => {
  const { rows } = await trx.raw<{ rows: RestoreEffect[] }>(
    `SELECT CASE WHEN wallet_available_micros > 0 THEN 'credit' ELSE 'take_back' END AS action, svc_user_id,
        reference AS object, abs(wallet_available_micros) AS amount_micros, currency
      FROM ledger_postings WHERE id > :posting AND wallet_available_micros IS NOT NULL
      UNION ALL
      SELECT 'announce', payload ->> 'svc_user_id', aggregate || ' ' || (payload ->> 'status'), NULL, NULL
      FROM outbox WHERE seq > :fact AND subject IN (:changed, :ended)`,
    { posting, fact, changed: events.subscriptionChanged.subject, ended: events.subscriptionEnded.subject },
  );
  return rows;
};
