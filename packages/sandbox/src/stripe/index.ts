export type { ApiCall, ApiResponse } from './answer-api-request.ts';
export type { SendEvent } from './events.ts';
export type { Dispute, Fields, PaymentIntent, Refund, Session, Subscription } from './objects.ts';
export { parseForm, type StripeServer, sendOverHttp, startStripeServer } from './stripe-server.ts';
export { type StandInOptions, StripeStandIn } from './stripe-stand-in.ts';
