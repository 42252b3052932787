import type { Random } from '../engine/random.ts';
import type { VirtualTime } from '../engine/virtual-time.ts';

const MONTH_SECONDS = 30 * 86_400;
/** Life of an idempotency key at Stripe. */
const KEY_SECONDS = 86_400;
/** Time for which a hosted page can be paid. */
const PAGE_SECONDS = 86_400;
const DECLINED = 0.1;

export interface HostedCustomer {
  readonly id: string;
  readonly created: number;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface HostedSession {
  readonly id: string;
  readonly created: number;
  readonly client_reference_id: string;
  readonly customer: string;
  readonly mode: 'subscription' | 'payment';
  readonly metadata: Readonly<Record<string, string>>;
  readonly subscriptionMetadata: Readonly<Record<string, string>>;
  readonly price: string | null;
  readonly amount_total: number;
  readonly currency: string;
  readonly url: string;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid';
  subscription: string | null;
  payment_intent: string | null;
}

export interface HostedSubscription {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly sessionId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly price: string;
  readonly billing_cycle_anchor: number;
  status: 'active' | 'past_due' | 'canceled';
  periodStart: number;
  periodEnd: number;
  cancel_at_period_end: boolean;
  ended_at: number | null;
  readonly payment_intent: string;
}

/** A payment by card. One that was declined can be cancelled. */
export interface HostedPayment {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly amount: number;
  readonly currency: 'eur';
  readonly metadata: Readonly<Record<string, string>>;
  status: 'succeeded' | 'requires_payment_method' | 'canceled';
  readonly last_payment_error: { readonly code: string } | null;
}

/** A refund or dispute of a payment. */
export interface HostedReversal {
  readonly id: string;
  readonly kind: 'refund' | 'dispute';
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: 'eur';
  readonly metadata: Readonly<Record<string, string>>;
  status: 'succeeded' | 'failed' | 'needs_response' | 'won' | 'lost';
}

export interface HostedInvoice {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly metadata: Readonly<Record<string, string>>;
  status: 'draft' | 'open' | 'paid';
  readonly lines: { readonly data: { readonly amount: number }[] };
}

export interface HostedEvent {
  readonly id: string;
  created: number;
  readonly type: string;
  readonly data: { readonly object: Readonly<Record<string, unknown>> };
  isDelivered: boolean;
}

/** The state of the payment provider, a third party that no restore of ours takes back. */
export interface PaymentService {
  readonly customers: Map<string, HostedCustomer>;
  readonly sessions: Map<string, HostedSession>;
  readonly subscriptions: Map<string, HostedSubscription>;
  readonly payments: Map<string, HostedPayment>;
  readonly reversals: HostedReversal[];
  readonly invoices: Map<string, HostedInvoice>;
  readonly events: HostedEvent[];
  /** Does work once for an idempotency key, as long as the key lives. */
  readonly once: <T>(key: string | undefined, work: () => T) => T;
  readonly nowSeconds: () => number;
  readonly nextId: (prefix: string) => string;
  readonly pay: (sessionId: string) => void;
  /** Returns true if the customer has a card that can be charged without them. */
  readonly hasCard: (customer: string) => boolean;
  /** Charges a saved card, which is declined at times. */
  readonly charge: (order: Pick<HostedPayment, 'amount' | 'customer' | 'metadata'>) => HostedPayment;
  /** Amount of a payment that no refund or dispute has taken. */
  readonly rest: (paymentId: string) => number;
  readonly reverse: (order: Pick<HostedReversal, 'kind' | 'payment_intent' | 'amount' | 'metadata'>) => HostedReversal;
  readonly changeReversal: (reversal: HostedReversal, status: HostedReversal['status']) => void;
  readonly change: (subscription: HostedSubscription, changes: Partial<HostedSubscription>) => void;
  /** Dates undelivered events anew after a pause of all machines, because Stripe gives a delivery up after three days. */
  readonly redateEvents: () => void;
  /** Renews subscriptions whose period is over, and ends those that were cancelled. */
  readonly renewDue: (fails: () => boolean) => void;
}

export const createPaymentService = (time: VirtualTime, random: Random): PaymentService => {
  let made = 0;
  const nextId = (prefix: string): string => {
    made += 1;
    return `${prefix}_${String(made).padStart(8, '0')}`;
  };
  const nowSeconds = (): number => Math.floor(time.nowMs() / 1000);
  const sessions = new Map<string, HostedSession>();
  const subscriptions = new Map<string, HostedSubscription>();
  const events: HostedEvent[] = [];
  const raise = (type: string, object: Readonly<Record<string, unknown>>): void => {
    events.push({ id: nextId('evt'), created: nowSeconds(), type, data: { object }, isDelivered: false });
  };
  const change: PaymentService['change'] = (subscription, changes) => {
    Object.assign(subscription, changes);
    raise('customer.subscription.updated', { id: subscription.id });
  };
  const money = createMoney({ nowSeconds, nextId, raise, random });
  const begin = (session: HostedSession): string => {
    const now = nowSeconds();
    const id = nextId('sub');
    const { customer, subscriptionMetadata: metadata, price, amount_total: amount } = session;
    if (price === null) throw new Error('a session of a subscription has no price');
    subscriptions.set(id, {
      id,
      created: now,
      customer,
      sessionId: session.client_reference_id,
      metadata,
      price,
      billing_cycle_anchor: now,
      status: 'active',
      periodStart: now,
      periodEnd: now + MONTH_SECONDS,
      cancel_at_period_end: false,
      ended_at: null,
      payment_intent: money.receive({ customer, amount }).id,
    });
    raise('customer.subscription.created', { id });
    return id;
  };
  return {
    customers: new Map(),
    sessions,
    subscriptions,
    events,
    ...money,
    once: createOnce(nowSeconds),
    nowSeconds,
    nextId,
    change,
    pay: (sessionId) => {
      const session = sessions.get(sessionId);
      if (session === undefined || session.status !== 'open') return;
      const subject = { id: session.id, client_reference_id: session.client_reference_id };
      if (nowSeconds() - session.created >= PAGE_SECONDS) {
        session.status = 'expired';
        raise('checkout.session.expired', subject);
        return;
      }
      session.status = 'complete';
      session.payment_status = 'paid';
      if (session.mode === 'subscription') session.subscription = begin(session);
      else session.payment_intent = money.receive({ customer: session.customer, amount: session.amount_total }).id;
      raise('checkout.session.completed', subject);
    },
    redateEvents: () => {
      for (const event of events) if (!event.isDelivered) event.created = nowSeconds();
    },
    renewDue: (fails) => {
      const now = nowSeconds();
      for (const subscription of subscriptions.values()) {
        if (subscription.status === 'canceled' || subscription.periodEnd > now) continue;
        if (subscription.cancel_at_period_end) {
          change(subscription, { status: 'canceled', ended_at: subscription.periodEnd });
        } else if (subscription.status === 'active' && fails()) change(subscription, { status: 'past_due' });
        else {
          const periodStart = subscription.periodEnd;
          change(subscription, { status: 'active', periodStart, periodEnd: periodStart + MONTH_SECONDS });
        }
      }
    },
  };
};

/** Keeps the answers of calls by idempotency key. */
const createOnce = (nowSeconds: () => number): PaymentService['once'] => {
  const answers = new Map<string, { readonly value: unknown; readonly until: number }>();
  return <T>(key: string | undefined, work: () => T): T => {
    const known = key === undefined ? undefined : answers.get(key);
    // An answer is kept under the key of the call that made it.
    if (known !== undefined && known.until > nowSeconds()) return known.value as T;
    const value = work();
    if (key !== undefined) answers.set(key, { value, until: nowSeconds() + KEY_SECONDS });
    return value;
  };
};

interface MoneyOptions {
  readonly nowSeconds: () => number;
  readonly nextId: (prefix: string) => string;
  readonly raise: (type: string, object: Readonly<Record<string, unknown>>) => void;
  readonly random: Random;
}

type Received = Pick<HostedPayment, 'amount' | 'customer'> & Partial<Pick<HostedPayment, 'metadata'>>;

/** Payments, what is taken back of them, and their invoices. */
const createMoney = ({ nowSeconds, nextId, raise, random }: MoneyOptions) => {
  const payments = new Map<string, HostedPayment>();
  const reversals: HostedReversal[] = [];
  const cards = new Set<string>();
  const pay = ({ metadata = {}, ...order }: Received, isDeclined: boolean): HostedPayment => {
    const payment: HostedPayment = {
      id: nextId('pi'),
      created: nowSeconds(),
      currency: 'eur',
      metadata,
      ...order,
      status: isDeclined ? 'requires_payment_method' : 'succeeded',
      last_payment_error: isDeclined ? { code: 'card_declined' } : null,
    };
    payments.set(payment.id, payment);
    return payment;
  };
  const tell = (name: string, { id, payment_intent }: HostedReversal): void => raise(name, { id, payment_intent });
  return {
    payments,
    reversals,
    invoices: new Map<string, HostedInvoice>(),
    hasCard: (customer: string) => cards.has(customer),
    /** Takes a payment at a hosted page, which saves the card. */
    receive: (order: Received) => {
      cards.add(order.customer);
      return pay(order, false);
    },
    charge: (order: Received) => pay(order, random.chance(DECLINED)),
    rest: (paymentId: string) =>
      reversals
        .filter(({ payment_intent, status }) => payment_intent === paymentId && status !== 'failed' && status !== 'won')
        .reduce((rest, { amount }) => rest - amount, payments.get(paymentId)?.amount ?? 0),
    reverse: (order: Pick<HostedReversal, 'kind' | 'payment_intent' | 'amount' | 'metadata'>): HostedReversal => {
      const isRefund = order.kind === 'refund';
      const status = isRefund ? 'succeeded' : 'needs_response';
      const reversal: HostedReversal = { ...order, id: nextId(isRefund ? 're' : 'dp'), currency: 'eur', status };
      reversals.push(reversal);
      tell(isRefund ? 'refund.created' : 'charge.dispute.created', reversal);
      return reversal;
    },
    changeReversal: (reversal: HostedReversal, status: HostedReversal['status']): void => {
      reversal.status = status;
      tell(reversal.kind === 'refund' ? 'refund.failed' : 'charge.dispute.closed', reversal);
    },
  };
};
