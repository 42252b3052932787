import { routes } from '@svc/contracts';
import { type Binding, bind, readBodyBytes } from '@svc/service-kit';
import type { Stripe } from 'stripe';
import { handleEvent, type StripeListener, verifyEvent } from './receive-event.ts';

/** Binds the route to which Stripe delivers events. Stripe redelivers unless the response is 2xx. */
export const stripeRoutes = (deps: {
  readonly stripe: Stripe;
  readonly secrets: readonly string[];
  readonly listener: StripeListener;
}): Binding[] => [
  bind(routes.receiveStripeEvent, async ({ req }) => {
    const body = await readBodyBytes(req, routes.receiveStripeEvent.request.body.bytesMax);
    const header = req.headers['stripe-signature'];
    const signature = typeof header === 'string' ? header : undefined;
    const event = verifyEvent(deps.stripe, body, { signature, secrets: deps.secrets });
    await handleEvent(deps.listener, event);
    return { status: 200, body: { received: true } };
  }),
];
