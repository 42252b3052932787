import type { Logger } from '@svc/service-kit';
import type { Stripe } from 'stripe';
import { HANDLED_EVENTS, handleEvent, type StripeListener } from './receive-event.ts';
import { askStripe } from './stripe-client.ts';

/** Stripe itself delivers an event again for three days. */
const LOOK_BACK_SECONDS = 3 * 24 * 3600;
const PAGE_EVENTS = 100;
/** Events of one sweep, the newest first. Stripe gives up older ones; a subscription of which nothing is heard is asked for. */
const EVENTS_MAX = 5_000;
/** Events handled by this process that Stripe may go on listing as undelivered. */
const REMEMBERED_MAX = 10_000;

/** Handles events that Stripe could not deliver, each once in a process. */
export interface EventSweep {
  run(): Promise<void>;
}

/** Makes the sweep for undelivered events: an endpoint that was down for a while must not leave states behind. */
export const createEventSweep = (deps: {
  readonly stripe: Stripe;
  readonly listener: StripeListener;
  readonly clock: () => Date;
  readonly logger: Logger;
}): EventSweep => {
  const handled = new Set<string>();
  return {
    async run() {
      const since = Math.floor(deps.clock().getTime() / 1000) - LOOK_BACK_SECONDS;
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
            'an undelivered payment event failed',
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
