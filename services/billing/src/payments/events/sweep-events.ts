import type { Stripe } from 'stripe';
import { type JobDeps, listDeferredItems, runItems } from '../../jobs.ts';
import { askForOne, askStripe, type ProviderMeters } from '../stripe/index.ts';
import { DELIVERY_SECONDS_MAX, HANDLED_EVENTS, handleEvent, type StripeListener } from './receive-event.ts';

const PAGE_EVENTS = 100;
/** Events per sweep, newest first. Changes in older events are caught by the refresh of silent subscriptions. */
const EVENTS_MAX = 5_000;
/** Handled events to remember, because Stripe may keep listing them as undelivered. */
const REMEMBERED_MAX = 10_000;

/** Sweep that handles events that Stripe failed to deliver, each once per process. */
export interface EventSweep {
  readonly run: () => Promise<void>;
}

/** Creates the sweep for undelivered events, so that no change is lost while the endpoint is down. */
export const createEventSweep = (
  deps: JobDeps & {
    readonly stripe: Stripe;
    readonly listener: StripeListener;
    readonly clock: () => Date;
    readonly providerMeters: Pick<ProviderMeters, 'eventHandled'>;
  },
): EventSweep => {
  const seen = new Set<string>();
  return {
    async run() {
      const since = Math.floor(deps.clock().getTime() / 1000) - DELIVERY_SECONDS_MAX;
      const query = { delivery_success: false, created: { gte: since }, limit: PAGE_EVENTS };
      const listed = await askStripe(() =>
        deps.stripe.events.list({ ...query, types: [...HANDLED_EVENTS] }).autoPagingToArray({ limit: EVENTS_MAX }),
      );
      const events = new Map(
        listed
          .toReversed()
          .filter(({ id }) => !seen.has(id))
          .map((event) => [event.id, event] as const),
      );
      const deferred = await listDeferredItems(deps.database, 'events', PAGE_EVENTS);
      await runItems(deps, 'events', [...new Set([...events.keys(), ...deferred])], async (id) => {
        // An event that fails is put back, and from then on tried when its delay is over.
        seen.add(id);
        const event = events.get(id) ?? (await askForOne(() => deps.stripe.events.retrieve(id)));
        deps.providerMeters.eventHandled('swept');
        if (event !== undefined) await handleEvent(deps.listener, event);
      });
      for (const id of seen) {
        if (seen.size <= REMEMBERED_MAX) break;
        seen.delete(id);
      }
    },
  };
};
