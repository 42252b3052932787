import type { Logger } from '@svc/service-kit';
import type { Stripe } from 'stripe';
import { DELIVERY_SECONDS_MAX, HANDLED_EVENTS, handleEvent, type StripeListener } from './receive-event.ts';
import { askStripe } from './stripe-client.ts';

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
export const createEventSweep = (deps: {
  readonly stripe: Stripe;
  readonly listener: StripeListener;
  readonly clock: () => Date;
  readonly logger: Logger;
}): EventSweep => {
  const handled = new Set<string>();
  return {
    async run() {
      const since = Math.floor(deps.clock().getTime() / 1000) - DELIVERY_SECONDS_MAX;
      const query = { delivery_success: false, created: { gte: since }, limit: PAGE_EVENTS };
      const events = await askStripe(() =>
        deps.stripe.events.list({ ...query, types: [...HANDLED_EVENTS] }).autoPagingToArray({ limit: EVENTS_MAX }),
      );
      for (const event of events.toReversed().filter(({ id }) => !handled.has(id))) {
        try {
          await handleEvent(deps.listener, event);
          handled.add(event.id);
        } catch (error) {
          deps.logger.error(
            { event_id: event.id, event: event.type, err: error },
            'could not handle an undelivered payment event',
          );
        }
      }
      for (const id of handled) {
        if (handled.size <= REMEMBERED_MAX) break;
        handled.delete(id);
      }
    },
  };
};
