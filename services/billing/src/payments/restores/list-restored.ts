import type { Stripe } from 'stripe';
import type { Work } from '../../jobs/index.ts';
import { listLiveOrders } from '../../seats/index.ts';
import { listLiveSubscriptions } from '../../subscriptions/index.ts';
import {
  createStripeListener,
  DELIVERY_SECONDS_MAX,
  HANDLED_EVENTS,
  handleEvent,
  type ListenerDeps,
} from '../events/index.ts';
import { refreshStoredSubscription, refreshSubscription } from '../refresh-subscription.ts';
import { CHARGE_KEY, CLOCK_SKEW_SECONDS, secondsBefore } from '../stripe/index.ts';
import { settleCharge, settleSession } from '../take-over.ts';

/** An object of Stripe to compare with a restored database. */
export interface RestoredItem {
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
export async function* listRestored(
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
