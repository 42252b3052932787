import { routes } from '@svc/contracts';
import { type Binding, bind, readBodyBytes } from '@svc/service-kit';
import type { Stripe } from 'stripe';
import type { ProviderMeters } from '../stripe/index.ts';
import { handleEvent, type StripeListener, verifyEvent } from './receive-event.ts';

/** Binds the route to which Stripe delivers events. Stripe redelivers unless the response is 2xx. */
export const eventRoutes = (deps: {
  readonly stripe: Stripe;
  readonly secrets: readonly string[];
  readonly listener: StripeListener;
  readonly providerMeters: Pick<ProviderMeters, 'eventHandled'>;
}): Binding[] => [
  bind(routes.receiveStripeEvent, async ({ req }) => {
    const body = await readBodyBytes(req, routes.receiveStripeEvent.request.body.bytesMax);
    const header = req.headers['stripe-signature'];
    const signature = typeof header === 'string' ? header : undefined;
    const event = verifyEvent(deps.stripe, body, { signature, secrets: deps.secrets });
    deps.providerMeters.eventHandled('delivered');
    await handleEvent(deps.listener, event);
    return { status: 200, body: { received: true } };
  }),
];
