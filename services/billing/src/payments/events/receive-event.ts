import { routes } from '@svc/contracts';
import { AppError, type Binding, bind, invalidRequest, parseOrThrow, readBodyBytes } from '@svc/service-kit';
import { Stripe } from 'stripe';
import { z } from 'zod';
import { CHARGE_KEY, type ProviderMeters } from '../stripe/index.ts';

/** Event types that billing handles. All others are acknowledged and ignored. */
export const HANDLED_EVENTS = [
  'checkout.session.completed',
  'checkout.session.expired',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.trial_will_end',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'payment_intent.succeeded',
  'charge.refunded',
  'charge.refund.updated',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
] as const satisfies readonly Stripe.Event.Type[];

/** Time for which Stripe retries a delivery. */
export const DELIVERY_SECONDS_MAX = 3 * 24 * 3600;
/** Maximum age of a signature. */
const SIGNATURE_SECONDS_MAX = 300;

/** Object that an event is about. Billing ignores the rest of the event and fetches the latest state. */
export type EventSubject =
  | { readonly kind: 'checkout'; readonly providerSessionId: string; readonly sessionId: string | null }
  | { readonly kind: 'subscription'; readonly providerSubscriptionId: string }
  | { readonly kind: 'reversal'; readonly paymentId: string }
  | { readonly kind: 'charge'; readonly paymentId: string };

export interface StripeListener {
  readonly checkoutChanged: (subject: Extract<EventSubject, { kind: 'checkout' }>) => Promise<void>;
  readonly subscriptionChanged: (providerSubscriptionId: string) => Promise<void>;
  readonly paymentReversed: (paymentId: string) => Promise<void>;
  /** An automatic charge was paid. */
  readonly chargePaid: (paymentId: string) => Promise<void>;
}

/** A signature proves the origin, not the content. No text column can store NUL. */
const idSchema = z.string().refine((id) => !id.includes('\0'), { message: 'NUL is not allowed' });
const objectOf = <S extends z.ZodRawShape>(shape: S) => z.object({ data: z.object({ object: z.object(shape) }) });
const eventSchema = z.object({ type: z.string() });
const checkoutSchema = objectOf({ id: idSchema, client_reference_id: idSchema.nullish() });
const subscriptionSchema = objectOf({ id: idSchema });
/** An id, expanded or not. */
const referenceSchema = z.union([idSchema, z.object({ id: idSchema }).transform(({ id }) => id)]);
/** A charge, refund or dispute. */
const reversalSchema = objectOf({ payment_intent: referenceSchema.nullish() });
const paymentSchema = objectOf({ id: idSchema, metadata: z.record(z.string(), z.unknown()).nullish() });
/** Until API version 2025-03-31, the invoice itself named its subscription. */
const invoiceSchema = objectOf({
  subscription: referenceSchema.nullish(),
  parent: z
    .object({
      subscription_details: z.object({ subscription: referenceSchema.nullish() }).nullish(),
    })
    .nullish(),
});

/**
 * Verifies the signature of an event over its raw bytes, then parses them. Throws `invalid_signature`, or 422 if a
 * signed body is not JSON.
 */
const verifyEvent = (
  stripe: Stripe,
  body: Buffer,
  signed: { readonly signature: string | undefined; readonly secrets: readonly string[] },
): unknown => {
  const isSigned = signed.secrets.some((secret) => isSignedWith(stripe, body, { ...signed, secret }));
  if (!isSigned) throw new AppError('invalid_signature');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw invalidRequest([{ loc: ['body'], type: 'json_invalid', msg: 'JSON decode error' }]);
  }
};

const isSignedWith = (
  { webhooks: { signature: verifier } }: Stripe,
  body: Buffer,
  { signature, secret }: { readonly signature: string | undefined; readonly secret: string },
): boolean => {
  if (verifier === null) throw new Error('the library cannot verify signatures here');
  try {
    return verifier.verifyHeader(body, signature ?? '', secret, SIGNATURE_SECONDS_MAX);
  } catch (error) {
    if (error instanceof Stripe.errors.StripeSignatureVerificationError) return false;
    throw error;
  }
};

/**
 * Makes the listener fetch the latest state of the object that an event is about. Ignores events of other types. Throws
 * 422 if the event does not identify its object.
 */
export const handleEvent = async (listener: StripeListener, event: unknown): Promise<void> => {
  const subject = subjectOf(event);
  if (subject === undefined) return;
  switch (subject.kind) {
    case 'checkout':
      return listener.checkoutChanged(subject);
    case 'subscription':
      return listener.subscriptionChanged(subject.providerSubscriptionId);
    case 'reversal':
      return listener.paymentReversed(subject.paymentId);
    case 'charge':
      return listener.chargePaid(subject.paymentId);
  }
};

const subjectOf = (event: unknown): EventSubject | undefined => {
  const { type } = parseOrThrow(eventSchema, event, 'body');
  // Other types reach `default`.
  switch (type as (typeof HANDLED_EVENTS)[number]) {
    case 'checkout.session.completed':
    case 'checkout.session.expired':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed': {
      const { id, client_reference_id } = parseOrThrow(checkoutSchema, event, 'body').data.object;
      return { kind: 'checkout', providerSessionId: id, sessionId: client_reference_id ?? null };
    }
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
    case 'customer.subscription.trial_will_end':
      return {
        kind: 'subscription',
        providerSubscriptionId: parseOrThrow(subscriptionSchema, event, 'body').data.object.id,
      };
    case 'invoice.paid':
    case 'invoice.payment_failed':
    case 'invoice.payment_action_required': {
      const { parent, subscription } = parseOrThrow(invoiceSchema, event, 'body').data.object;
      const id = parent?.subscription_details?.subscription ?? subscription;
      return typeof id === 'string' ? { kind: 'subscription', providerSubscriptionId: id } : undefined;
    }
    case 'payment_intent.succeeded': {
      const { id: paymentId, metadata } = parseOrThrow(paymentSchema, event, 'body').data.object;
      return metadata?.[CHARGE_KEY] === undefined ? undefined : { kind: 'charge', paymentId };
    }
    case 'charge.refunded':
    case 'charge.refund.updated':
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated': {
      const { payment_intent: paymentId } = parseOrThrow(reversalSchema, event, 'body').data.object;
      return typeof paymentId === 'string' ? { kind: 'reversal', paymentId } : undefined;
    }
    default:
      return undefined;
  }
};

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
