import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import fixtures from './stripe-fixtures.json' with { type: 'json' };

type Fields = Record<string, unknown>;

/** A request received by the stand-in. */
export interface StripeCall {
  readonly method: string;
  readonly path: string;
  readonly params: Fields;
  readonly idempotencyKey: string | undefined;
  readonly version: string | undefined;
}

/**
 * Stand-in for the part of Stripe's API that billing uses: form-encoded requests, objects of API version 2026-09-30
 * (based on Stripe's published fixtures), idempotency keys bound to their parameters, paged lists and signed events.
 * Tests change its state with `pay` and `update`.
 */
export class StripeStandIn {
  readonly calls: StripeCall[] = [];
  readonly secret = `whsec_${randomBytes(12).toString('hex')}`;
  /** Faults of the next requests: a status, or a closed connection. */
  readonly faults: (number | 'reset')[] = [];
  /** Awaited after an object is read and before the response, so that a test can delay it. */
  afterRead: (path: string) => Promise<void> = async () => undefined;
  /** Awaited after a session is created and before the response. */
  onSessionMade: (session: Fields) => Promise<void> = async () => undefined;
  /** Awaited after an automatic payment is made and before the response. */
  onCharged: () => Promise<void> = async () => undefined;
  /** Outcome of payments without the customer: a status, or the code of a card error. */
  charges: 'succeeded' | 'processing' | 'card_declined' | 'authentication_required' = 'succeeded';
  undelivered: Fields[] = [];
  /** Refuses all refunds, as Stripe does for a disputed payment. */
  refuseRefunds = false;
  readonly #objects = new Map<string, Fields>();
  readonly #answers = new Map<string, { readonly request: string; readonly answer: Fields | CardError }>();
  #server: Server | undefined;
  #url = '';
  #count = 0;

  get url(): string {
    return this.#url;
  }

  async start(): Promise<this> {
    const server = createServer((req, res) => void this.#serve(req, res));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    this.#url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    this.#server = server;
    return this;
  }

  async stop(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server?.close(() => resolve());
      this.#server?.closeAllConnections();
    });
  }

  object(id: string): Fields {
    const object = this.#objects.get(id);
    if (object === undefined) throw new Error(`the stand-in has no ${id}`);
    return object;
  }

  list(kind: string): Fields[] {
    return [...this.#objects.values()].filter(({ object }) => object === kind);
  }

  update(id: string, changes: Fields): void {
    Object.assign(this.object(id), changes);
  }

  /** Pays a session as its customer would. Creates the subscription, if it is for one. */
  pay(sessionId: string, at: Date): Fields {
    const session = this.object(sessionId);
    const started = Math.floor(at.getTime() / 1000);
    const intent = this.#id('pi');
    this.update(sessionId, { status: 'complete', payment_status: 'paid' });
    this.#put('payment_method', 'pm', { type: 'card', customer: session['customer'] });
    if (session['mode'] !== 'subscription') {
      this.update(sessionId, { payment_intent: intent });
      return session;
    }
    const [item] = fixtures.subscription.items.data;
    const subscription = this.#put('subscription', 'sub', {
      ...{ customer: session['customer'], status: 'active', billing_cycle_anchor: started, cancel_at: null },
      ...{ cancel_at_period_end: false, ended_at: null, metadata: session['subscription_metadata'] },
      items: {
        object: 'list',
        data: [
          {
            ...item,
            ...{
              id: this.#id('si'),
              price: { ...item?.price, id: session['price'], product: `prod_of_${session['price']}` },
            },
            ...{ current_period_start: started, current_period_end: started + 31 * 86_400 },
          },
        ],
      },
    });
    const payment = { type: 'payment_intent', payment_intent: intent };
    const payments = { object: 'list', data: [{ ...fixtures.invoice_payment, status: 'paid', payment }] };
    const invoice = this.#put('invoice', 'in', {
      payments,
      parent: { type: 'subscription_details', subscription_details: { subscription: subscription['id'] } },
    });
    this.update(String(subscription['id']), { latest_invoice: invoice['id'] });
    this.update(sessionId, { subscription: subscription['id'] });
    return session;
  }

  /** Adds an object that was created in Stripe's dashboard. */
  add(kind: 'charge' | 'refund' | 'dispute', fields: Fields): string {
    const prefix = { charge: 'ch', refund: 're', dispute: 'dp' }[kind];
    return String(this.#put(kind, prefix, fields)['id']);
  }

  /** Expires all idempotency keys, as Stripe does after a day. */
  forgetKeys(): void {
    this.#answers.clear();
  }

  /** Creates an event about the current state of an object. */
  event(type: string, id: string): Fields {
    return {
      ...{ ...fixtures.event, id: this.#id('evt'), api_version: '2026-09-30.endive', type },
      data: { object: structuredClone(this.object(id)) },
    };
  }

  /** Returns the signature header of a body. */
  sign(body: string, secret = this.secret, at = Date.now()): string {
    const timestamp = Math.floor(at / 1000);
    return `t=${timestamp},v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const { pathname, search } = new URL(req.url ?? '', 'http://stripe.test');
    const params = nested(new URLSearchParams(Buffer.concat(chunks).toString() || search));
    if (!req.headers.authorization?.startsWith('Bearer sk_')) {
      answer(res, 401, { error: { type: 'invalid_request_error', message: 'You did not provide an API key' } });
      return;
    }
    const header = req.headers['idempotency-key'];
    const idempotencyKey = typeof header === 'string' ? header : undefined;
    const version = req.headers['stripe-version']?.toString();
    this.calls.push({ method: req.method ?? '', path: pathname, params, idempotencyKey, version });
    const fault = this.faults.shift();
    if (fault === 'reset') {
      req.socket.destroy();
      return;
    }
    if (fault !== undefined) {
      answer(res, fault, { error: { type: 'api_error', message: 'the stand-in is out of order' } });
      return;
    }
    const request = JSON.stringify([req.method, pathname, params]);
    const known = idempotencyKey === undefined ? undefined : this.#answers.get(idempotencyKey);
    if (known !== undefined && known.request !== request) {
      answer(res, 400, {
        error: { type: 'idempotency_error', message: 'Keys can only be used with the same parameters' },
      });
      return;
    }
    const made = known?.answer ?? (await this.#route(req.method ?? '', pathname, params));
    if (made instanceof CardError) {
      const error = { type: 'card_error', code: made.message, message: made.message, payment_intent: made.payment };
      if (idempotencyKey !== undefined) this.#answers.set(idempotencyKey, { request, answer: made });
      answer(res, 402, { error });
      return;
    }
    if (made instanceof Error) {
      answer(res, 400, { error: { type: 'invalid_request_error', code: made.message, message: made.message } });
      return;
    }
    if (idempotencyKey !== undefined && made !== undefined)
      this.#answers.set(idempotencyKey, { request, answer: made });
    const missing = { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such object' } };
    answer(res, made === undefined ? 404 : 200, made ?? missing);
  }

  async #route(method: string, path: string, params: Fields): Promise<Fields | CardError | Error | undefined> {
    const [, , ...parts] = path.split('/');
    const id = parts.at(-1) ?? '';
    if (method === 'POST' && path === '/v1/customers') return this.#put('customer', 'cus', params);
    if (method === 'GET' && path === '/v1/checkout/sessions') return this.#listAll(path, 'checkout.session', params);
    if (method === 'GET' && path === '/v1/disputes') return this.#listAll(path, 'dispute', params);
    if (method === 'GET' && path === '/v1/subscriptions') return this.#listAll(path, 'subscription', params);
    if (method === 'POST' && path === '/v1/checkout/sessions') return await this.#makeSession(params);
    if (path === '/v1/refunds') return method === 'POST' ? this.#refund(params) : this.#listRefunds(params);
    if (method === 'POST' && path === '/v1/billing_portal/sessions') {
      const portal = this.#put('billing_portal.session', 'bps', params);
      return Object.assign(portal, { url: `https://billing.stripe.test/${String(portal['id'])}` });
    }
    if (path === '/v1/payment_intents') return method === 'POST' ? this.#charge(params) : this.#listPayments(params);
    if (parts[0] === 'payment_intents' && id === 'cancel') return this.#cancelPayment(String(parts[1]));
    if (id === 'payment_methods') return this.#listCards(String(parts[1]));
    if (path === '/v1/invoices')
      return method === 'POST' ? this.#makeInvoice(params) : this.#listAll(path, 'invoice', params);
    if (method === 'POST' && path === '/v1/invoiceitems') return this.#addItem(params);
    if (parts[0] === 'invoices' && method === 'POST') return this.#changeInvoice(String(parts[1]), id, params);
    if (method === 'GET' && path === '/v1/events') return this.#listEvents(params);
    const object = this.#objects.get(id);
    if (object === undefined) return undefined;
    if (method === 'POST' && parts[0] === 'subscriptions')
      Object.assign(object, { cancel_at_period_end: params['cancel_at_period_end'] === 'true' });
    if (method === 'DELETE') Object.assign(object, { status: 'canceled', ended_at: Math.floor(Date.now() / 1000) });
    const read = structuredClone(object);
    const latest = read['latest_invoice'];
    if (params['expand'] !== undefined && typeof latest === 'string') read['latest_invoice'] = this.object(latest);
    await this.afterRead(path);
    return read;
  }

  async #charge(params: Fields): Promise<Fields | CardError> {
    const isPaid = this.charges === 'succeeded' || this.charges === 'processing';
    const payment = this.#put('payment_intent', 'pi', {
      ...params,
      ...{
        amount: Number(params['amount']),
        amount_received: this.charges === 'succeeded' ? Number(params['amount']) : 0,
      },
      ...{ status: isPaid ? this.charges : 'requires_payment_method', created: Math.floor(Date.now() / 1000) },
      last_payment_error: isPaid ? null : { type: 'card_error', code: this.charges },
    });
    await this.onCharged();
    return isPaid ? structuredClone(payment) : new CardError(this.charges, structuredClone(payment));
  }

  #listPayments({ customer }: Fields): Fields {
    const data = this.list('payment_intent').filter(
      (payment) => customer === undefined || payment['customer'] === customer,
    );
    return { object: 'list', url: '/v1/payment_intents', data: structuredClone(data).toReversed(), has_more: false };
  }

  #cancelPayment(id: string): Fields | Error {
    const payment = this.object(id);
    if (payment['status'] !== 'requires_payment_method') return new Error('payment_intent_unexpected_state');
    return structuredClone(Object.assign(payment, { status: 'canceled' }));
  }

  #makeInvoice(params: Fields): Fields {
    const lines = { object: 'list', data: [], has_more: false };
    return structuredClone(this.#put('invoice', 'in', { ...params, status: 'draft', number: null, total: 0, lines }));
  }

  /** The tax is a tenth of the net amount. */
  #addItem({ invoice: id, amount, description }: Fields): Fields {
    const total = Number(amount);
    this.update(String(id), {
      ...{ total, total_excluding_tax: Math.round(total / 1.1) },
      lines: { object: 'list', data: [{ object: 'line_item', amount: total, description }], has_more: false },
    });
    return this.#put('invoiceitem', 'ii', { invoice: id, amount: total });
  }

  #changeInvoice(id: string, action: string, params: Fields): Fields {
    const isFinal = action === 'finalize';
    const changes = isFinal ? { status: 'open', number: `TEST-${id}` } : { status: 'paid', ...params };
    this.update(id, { ...changes, hosted_invoice_url: `https://invoice.stripe.test/${id}` });
    return structuredClone(this.object(id));
  }

  #listCards(customer: string): Fields {
    const data = this.list('payment_method').filter((card) => card['customer'] === customer);
    return { object: 'list', url: '/v1/payment_methods', data: structuredClone(data).toReversed(), has_more: false };
  }

  /** Without an amount, what is left of the payment. */
  #refund(params: Fields): Fields | Error {
    if (this.refuseRefunds) return new Error('charge_disputed');
    const earlier = this.list('refund').filter(({ payment_intent }) => payment_intent === params['payment_intent']);
    if (earlier.some(({ amount }) => amount === null)) return new Error('charge_already_refunded');
    return this.#put('refund', 're', { ...params, amount: params['amount'] ?? null, status: 'succeeded' });
  }

  #listRefunds({ payment_intent }: Fields): Fields {
    const data = this.list('refund').filter((refund) => refund['payment_intent'] === payment_intent);
    return { object: 'list', url: '/v1/refunds', data, has_more: false };
  }

  /** Lists objects in one page. `status` is `all` or one state. */
  #listAll(url: string, kind: string, { status = 'all', payment_intent: payment, customer }: Fields): Fields {
    const data = this.list(kind).filter(
      (object) =>
        (status === 'all' || object['status'] === status) &&
        (payment === undefined || object['payment_intent'] === payment) &&
        (customer === undefined || object['customer'] === customer),
    );
    return { object: 'list', url, data: structuredClone(data), has_more: false };
  }

  /** Lists undelivered events in pages, newest first. */
  #listEvents(params: Fields): Fields {
    const types = params['types'];
    const wanted = this.undelivered.filter(({ type }) => !Array.isArray(types) || types.includes(type));
    const start = wanted.findIndex(({ id }) => id === params['starting_after']) + 1;
    const data = wanted.slice(start, start + Number(params['limit'] ?? 10));
    return { object: 'list', url: '/v1/events', data, has_more: start + data.length < wanted.length };
  }

  async #makeSession(params: Fields): Promise<Fields> {
    const lines = params['line_items'];
    const [line] = Array.isArray(lines) ? lines : [];
    const [price] = Array.isArray(lines) ? lines.map(priceOf) : [];
    const session = this.#put('checkout.session', 'cs_test', {
      ...{ status: 'open', payment_status: 'unpaid', mode: params['mode'], customer: params['customer'] },
      ...{ client_reference_id: params['client_reference_id'], subscription: null, price: line?.price },
      ...{ amount_subtotal: price?.amount, amount_total: price?.amount, currency: price?.currency },
      metadata: params['metadata'],
      subscription_metadata: Object(params['subscription_data'])['metadata'],
    });
    session['url'] = `https://checkout.stripe.test/${String(session['id'])}`;
    await this.onSessionMade(session);
    return structuredClone(session);
  }

  #put(kind: string, prefix: string, fields: Fields): Fields {
    const shape: Fields = Object.entries(fixtures).find(([name]) => name === kind)?.[1] ?? {};
    const object = { ...shape, ...fields, id: this.#id(prefix), object: kind };
    this.#objects.set(object.id, object);
    return object;
  }

  #id(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${String(this.#count).padStart(14, '0')}`;
  }
}

/** A declined payment. */
class CardError extends Error {
  readonly payment: Fields;
  constructor(code: string, payment: Fields) {
    super(code);
    this.payment = payment;
  }
}

/** Prices of the plans in `plans.yaml`, in cents. */
const PRICES: Readonly<Record<string, number>> = {
  price_of_basic: 500,
  price_of_full: 2_000,
  price_of_yearly: 20_000,
};

const priceOf = (line: { price?: string; price_data?: { unit_amount?: string; currency?: string } }) => ({
  amount: line.price === undefined ? Number(line.price_data?.unit_amount) : (PRICES[line.price] ?? null),
  currency: line.price === undefined ? line.price_data?.currency : 'eur',
});

const answer = (res: ServerResponse, status: number, body: Fields): void => {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_of_stripe' });
  res.end(JSON.stringify(body));
};

/** Parses form keys such as `a[b][0][c]` into a nested object. */
const nested = (pairs: URLSearchParams): Fields => {
  const root: Fields = {};
  for (const [name, value] of pairs) {
    const keys = name.split(/[[\]]+/).filter((key) => key !== '');
    let place: Fields = root;
    for (const [index, key] of keys.entries()) {
      const isLast = index === keys.length - 1;
      const next = /^\d+$/.test(keys[index + 1] ?? '') ? [] : {};
      place[key] ??= isLast ? value : next;
      // The value is one of the two containers created above.
      if (!isLast) place = place[key] as Fields;
    }
  }
  return root;
};
