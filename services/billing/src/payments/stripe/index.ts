export type { StripeListener } from './receive-event.ts';
export { reconcileWithStripe } from './reconcile.ts';
export { refreshReversals } from './reversals.ts';
export { stripeRoutes } from './routes.ts';
export { askStripe, createStripeClient, type StripeSettings } from './stripe-client.ts';
export { createStripeProvider } from './stripe-provider.ts';
export { createEventSweep } from './sweep-events.ts';
