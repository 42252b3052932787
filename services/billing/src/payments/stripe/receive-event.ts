import { AppError } from '@svc/service-kit';
import { Stripe } from 'stripe';
import { idOf } from './id-of.ts';

/** Kinds of events that lead to something; the others are taken and left alone. */
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
] as const satisfies readonly Stripe.Event.Type[];

/** What an event is about: nothing else of it is believed, as billing asks for the latest state. */
export type EventSubject =
  | { readonly kind: 'checkout'; readonly providerSessionId: string; readonly sessionId: string | null }
  | { readonly kind: 'subscription'; readonly providerSubscriptionId: string };

/** Who is told of events. */
export interface StripeListener {
  checkoutChanged(subject: Extract<EventSubject, { kind: 'checkout' }>): Promise<void>;
  subscriptionChanged(providerSubscriptionId: string): Promise<void>;
}

/** Verifies an event on the bytes that were sent, before they are parsed. Throws `invalid_signature`. */
export const verifyEvent = (
  stripe: Stripe,
  body: Buffer,
  signed: { readonly signature: string | undefined; readonly secrets: readonly string[] },
): Stripe.Event => {
  for (const secret of signed.secrets) {
    try {
      return stripe.webhooks.constructEvent(body, signed.signature ?? '', secret);
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw error;
    }
  }
  throw new AppError('invalid_signature');
};

/** Has the latest state fetched of whatever an event is about. Events of other kinds are left alone. */
export const handleEvent = async (listener: StripeListener, event: Stripe.Event): Promise<void> => {
  const subject = subjectOf(event);
  if (subject === undefined) return;
  if (subject.kind === 'checkout') await listener.checkoutChanged(subject);
  else await listener.subscriptionChanged(subject.providerSubscriptionId);
};

const subjectOf = (event: Stripe.Event): EventSubject | undefined => {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.expired':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed': {
      const { id, client_reference_id } = event.data.object;
      return { kind: 'checkout', providerSessionId: id, sessionId: client_reference_id };
    }
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
    case 'customer.subscription.paused':
    case 'customer.subscription.resumed':
    case 'customer.subscription.trial_will_end':
      return { kind: 'subscription', providerSubscriptionId: event.data.object.id };
    case 'invoice.paid':
    case 'invoice.payment_failed':
    case 'invoice.payment_action_required': {
      const subscription = event.data.object.parent?.subscription_details?.subscription;
      if (subscription === undefined) return undefined;
      return { kind: 'subscription', providerSubscriptionId: idOf(subscription) };
    }
    default:
      return undefined;
  }
};
