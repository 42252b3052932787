import type { Stripe } from 'stripe';

/** Receives events as a merchant does: verifies them, and allows one live subscription per customer. */
export class Merchant {
  /** While true, its endpoint answers no event. */
  isDown = false;
  readonly received: Stripe.Event[] = [];
  readonly #stripe: Stripe;
  readonly #secret: string;

  constructor(stripe: Stripe, secret: string) {
    this.#stripe = stripe;
    this.#secret = secret;
  }

  async receive(body: string, signature: string): Promise<boolean> {
    if (this.isDown) return false;
    const event = this.#stripe.webhooks.constructEvent(body, signature, this.#secret);
    this.received.push(event);
    if (event.type === 'checkout.session.completed') await this.#allowOne(event.data.object);
    return true;
  }

  /** Lists the states that events told of a customer's subscriptions: status, and end of the period or of the whole. */
  historyOf(wanted: string): [string, string][] {
    const states = this.received.flatMap(({ data: { object } }): [string, string][] => {
      if (object.object !== 'subscription' || object.customer !== wanted) return [];
      const at = object.ended_at ?? object.items.data[0]?.current_period_end ?? 0;
      return [[object.status, new Date(at * 1000).toISOString()]];
    });
    return states.filter((state, index) => String(state) !== String(states[index - 1]));
  }

  async #allowOne({ customer, subscription: second }: Stripe.Checkout.Session): Promise<void> {
    if (typeof customer !== 'string' || typeof second !== 'string') return;
    const live = (await this.#stripe.subscriptions.list({ customer })).data;
    if (live.length < 2) return;
    const { latest_invoice: invoice } = await this.#stripe.subscriptions.retrieve(second, {
      expand: ['latest_invoice.payments'],
    });
    const [paid] = invoice === null || typeof invoice === 'string' ? [] : (invoice.payments?.data ?? []);
    const intent = paid?.payment.payment_intent;
    if (typeof intent === 'string') await this.#stripe.refunds.create({ payment_intent: intent });
    await this.#stripe.subscriptions.cancel(second);
  }
}
