import { Stripe } from 'stripe';
import type { HostedSession, HostedSubscription, PaymentService } from './payment-service.ts';
import { type CallOptions, type CallProvider, found, type Once, onePage, pages } from './stripe-answers.ts';
import { moneyOf } from './stripe-money.ts';

type Fields = Readonly<Record<string, string>>;

interface SessionOrder {
  readonly mode: HostedSession['mode'];
  readonly customer: string;
  readonly client_reference_id: string;
  readonly metadata: Fields;
  readonly subscription_data?: { readonly metadata: Fields };
  readonly line_items: readonly [
    { readonly price?: string; readonly price_data?: { readonly unit_amount: number; readonly currency: string } },
  ];
}

const PRICES_CENTS: Readonly<Record<string, number>> = { price_small: 500, price_large: 2000 };

/**
 * Creates a client of the provider for one process, with the part of Stripe's library that billing uses. Objects are those
 * of the model, and every call passes the network.
 */
export const createStripeClient = (service: PaymentService, call: CallProvider): Stripe => {
  const once: Once = ({ idempotencyKey }, work) => call(() => service.once(idempotencyKey, work));
  const client = {
    customers: {
      create: ({ metadata }: { readonly metadata: Fields }, options: CallOptions) =>
        once(options, () => {
          const customer = { id: service.nextId('cus'), created: service.nowSeconds(), metadata };
          service.customers.set(customer.id, customer);
          return customer;
        }),
      retrieve: (id: string) => call(() => ({ id, invoice_settings: { default_payment_method: null } })),
      listPaymentMethods: (id: string) => onePage(call, () => (service.hasCard(id) ? [{ id: `pm_${id}` }] : [])),
    },
    checkout: { sessions: sessionsOf(service, call, once) },
    subscriptions: subscriptionsOf(service, call, once),
    ...moneyOf(service, call, once),
    events: {
      list: ({
        created,
        delivery_success,
      }: {
        readonly created: { readonly gte: number };
        readonly delivery_success?: boolean;
      }) =>
        pages(call, () =>
          service.events.filter(
            (event) =>
              event.created >= created.gte &&
              (delivery_success === undefined || event.isDelivered === delivery_success),
          ),
        ),
    },
  };
  // Billing calls these members only, which its own tests check against the provider's real objects.
  return client as unknown as Stripe;
};

interface CreatedSince {
  readonly created: { readonly gte: number };
}

interface OfPayment {
  readonly payment_intent?: string;
}

const sessionsOf = (service: PaymentService, call: CallProvider, once: Once) => ({
  create: (order: SessionOrder, options: CallOptions) =>
    once(options, () => {
      const [item] = order.line_items;
      const id = service.nextId('csx');
      const session: HostedSession = {
        id,
        created: service.nowSeconds(),
        client_reference_id: order.client_reference_id,
        customer: order.customer,
        mode: order.mode,
        metadata: order.metadata,
        url: `https://pay.test/${id}`,
        subscriptionMetadata: order.subscription_data?.metadata ?? {},
        price: item.price ?? null,
        amount_total: item.price_data?.unit_amount ?? PRICES_CENTS[item.price ?? ''] ?? 0,
        currency: 'eur',
        status: 'open',
        payment_status: 'unpaid',
        subscription: null,
        payment_intent: null,
      };
      service.sessions.set(id, session);
      return { ...session };
    }),
  retrieve: (id: string) => call(() => ({ ...found(service.sessions.get(id)), discounts: [], total_details: null })),
  list: ({ created, status, payment_intent }: Partial<CreatedSince> & { readonly status?: string } & OfPayment) => {
    const list = () =>
      [...service.sessions.values()]
        .filter((each) => each.created >= (created?.gte ?? 0) && (status === undefined || each.status === status))
        .filter((each) => payment_intent === undefined || each.payment_intent === payment_intent)
        .map((each) => ({ ...each }));
    return payment_intent === undefined ? pages(call, list) : onePage(call, list);
  },
});

const subscriptionsOf = (service: PaymentService, call: CallProvider, once: Once) => ({
  retrieve: (id: string) => call(() => show(found(service.subscriptions.get(id)))),
  update: (id: string, { cancel_at_period_end }: { readonly cancel_at_period_end: boolean }) =>
    call(() => {
      const subscription = found(service.subscriptions.get(id));
      if (subscription.cancel_at_period_end !== cancel_at_period_end)
        service.change(subscription, { cancel_at_period_end });
      return show(subscription);
    }),
  cancel: (id: string, _: unknown, options: CallOptions) =>
    once(options, () => {
      const subscription = found(service.subscriptions.get(id));
      service.change(subscription, { status: 'canceled', ended_at: service.nowSeconds() });
      return show(subscription);
    }),
  list: ({ created }: { readonly created: { readonly gte: number } }) =>
    pages(call, () => [...service.subscriptions.values()].filter((each) => each.created >= created.gte).map(show)),
});

const show = (subscription: HostedSubscription) => ({
  ...subscription,
  cancel_at: null,
  items: {
    data: [
      {
        price: { id: subscription.price, product: `prod_${subscription.price}` },
        current_period_start: subscription.periodStart,
        current_period_end: subscription.periodEnd,
      },
    ],
  },
  latest_invoice: {
    payments: { data: [{ status: 'paid', payment: { payment_intent: subscription.payment_intent } }] },
  },
});

/** The failure that billing sees if the provider does not answer. */
export const connectionFailure = (): Error =>
  new Stripe.errors.StripeConnectionError({ type: 'api_error', message: 'the provider does not answer' });
