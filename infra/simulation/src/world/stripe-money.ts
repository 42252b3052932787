import { Stripe } from 'stripe';
import type { HostedInvoice, HostedPayment, HostedReversal, PaymentService } from './payment-service.ts';
import { type CallOptions, type CallProvider, found, type Once, onePage, pages } from './stripe-answers.ts';

type Metadata = Readonly<Record<string, string>>;

interface PaymentOrder {
  readonly amount: number;
  readonly customer: string;
  readonly metadata: Metadata;
}

interface CustomerQuery {
  readonly customer?: string;
  readonly created: { readonly gte: number };
}

interface RefundOrder {
  readonly payment_intent: string;
  readonly amount?: number;
  readonly metadata?: Metadata;
}

/** The part of Stripe's library that charges, refunds and writes invoices. */
export const moneyOf = (service: PaymentService, call: CallProvider, once: Once) => ({
  paymentIntents: paymentIntentsOf(service, call, once),
  refunds: {
    create: (order: RefundOrder, options: CallOptions) => once(options, () => ({ ...refund(service, order) })),
    list: (query: { readonly payment_intent: string }) => onePage(call, () => listReversals(service, 'refund', query)),
  },
  disputes: {
    list: (query: { readonly payment_intent: string }) => onePage(call, () => listReversals(service, 'dispute', query)),
  },
  ...invoicesOf(service, call, once),
});

const paymentIntentsOf = (service: PaymentService, call: CallProvider, once: Once) => ({
  list: ({ customer, created }: CustomerQuery) => {
    const list = () =>
      [...service.payments.values()]
        .filter((each) => each.created >= created.gte && (customer === undefined || each.customer === customer))
        .map(showPayment);
    return customer === undefined ? pages(call, list) : onePage(call, list);
  },
  create: async ({ amount, customer, metadata }: PaymentOrder, options: CallOptions) => {
    const payment = await once(options, () => service.charge({ amount, customer, metadata }));
    if (payment.status === 'succeeded') return showPayment(payment);
    throw new Stripe.errors.StripeCardError({
      type: 'card_error',
      code: 'card_declined',
      message: 'Your card was declined.',
      // Billing reads these members of a declined payment, and no others.
      payment_intent: showPayment(payment) as unknown as Stripe.PaymentIntent,
    });
  },
  cancel: (id: string) =>
    call(() => {
      const payment = found(service.payments.get(id));
      payment.status = 'canceled';
      return showPayment(payment);
    }),
  retrieve: (id: string) => call(() => showPayment(found(service.payments.get(id)))),
});

const showPayment = (payment: HostedPayment) => ({
  ...payment,
  amount_received: payment.status === 'succeeded' ? payment.amount : 0,
});

const refund = (service: PaymentService, { payment_intent, amount, metadata = {} }: RefundOrder): HostedReversal => {
  const rest = service.rest(payment_intent);
  if (rest === 0 || (amount ?? 0) > rest) {
    throw new Stripe.errors.StripeInvalidRequestError({
      type: 'invalid_request_error',
      code: 'charge_already_refunded',
      message: 'The payment has been refunded',
    });
  }
  return service.reverse({ kind: 'refund', payment_intent, amount: amount ?? rest, metadata });
};

const listReversals = (
  { reversals }: PaymentService,
  kind: HostedReversal['kind'],
  { payment_intent }: { readonly payment_intent: string },
) =>
  reversals.filter((each) => each.kind === kind && each.payment_intent === payment_intent).map((each) => ({ ...each }));

const invoicesOf = ({ invoices, nextId, nowSeconds }: PaymentService, call: CallProvider, once: Once) => ({
  invoices: {
    list: ({ customer, created }: CustomerQuery) =>
      onePage(call, () =>
        [...invoices.values()]
          .filter((each) => each.customer === customer && each.created >= created.gte)
          .map(showInvoice),
      ),
    create: ({ customer, metadata }: Omit<PaymentOrder, 'amount'>, options: CallOptions) =>
      once(options, () => {
        const id = nextId('in');
        const invoice: HostedInvoice = {
          id,
          created: nowSeconds(),
          customer,
          metadata,
          status: 'draft',
          lines: { data: [] },
        };
        invoices.set(id, invoice);
        return showInvoice(invoice);
      }),
    finalizeInvoice: (id: string, _: unknown, options: CallOptions) =>
      once(options, () => {
        const invoice = found(invoices.get(id));
        invoice.status = 'open';
        return showInvoice(invoice);
      }),
    attachPayment: (id: string, _: unknown, options: CallOptions) =>
      once(options, () => {
        const invoice = found(invoices.get(id));
        invoice.status = 'paid';
        return showInvoice(invoice);
      }),
  },
  invoiceItems: {
    create: ({ invoice, amount }: { readonly invoice: string; readonly amount: number }, options: CallOptions) =>
      once(options, () => {
        found(invoices.get(invoice)).lines.data.push({ amount });
        return { id: nextId('ii') };
      }),
  },
});

const showInvoice = (invoice: HostedInvoice) => ({ ...invoice, lines: { data: [...invoice.lines.data] } });
