export { createStripeListener, type ListenerDeps } from './listener.ts';
export { DELIVERY_SECONDS_MAX, HANDLED_EVENTS, handleEvent } from './receive-event.ts';
export { eventRoutes } from './routes.ts';
export { createEventSweep, type EventSweep } from './sweep-events.ts';
