import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { makeSession, paySession } from './checkout.ts';
import { addInvoiceItem, changeInvoice, makeInvoice } from './invoices.ts';
import { parseForm } from './parse-form.ts';
import { CardError, type ChargeOutcome, cancelPayment, isAccepted, makePayment, refund } from './payments.ts';
import fixtures from './stripe-fixtures.json' with { type: 'json' };
import { type Fields, StripeObjects, toList } from './stripe-objects.ts';

/** A request received by the stand-in. */
export interface StripeCall {
  readonly method: string;
  readonly path: string;
  readonly params: Fields;
  readonly idempotencyKey: string | undefined;
  readonly version: string | undefined;
}

/** Kinds of object by the path that lists them, oldest first. */
const LISTED: Readonly<Record<string, string>> = {
  '/v1/checkout/sessions': 'checkout.session',
  '/v1/disputes': 'dispute',
  '/v1/invoices': 'invoice',
  '/v1/refunds': 'refund',
  '/v1/subscriptions': 'subscription',
};

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
  charges: ChargeOutcome = 'succeeded';
  undelivered: Fields[] = [];
  /** Refuses all refunds, as Stripe does for a disputed payment. */
  refuseRefunds = false;
  readonly #objects = new StripeObjects();
  readonly #answers = new Map<string, { readonly request: string; readonly answer: Fields | CardError }>();
  #server: Server | undefined;
  #url = '';

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
    return this.#objects.get(id);
  }

  list(kind: string): Fields[] {
    return this.#objects.list(kind);
  }

  update(id: string, changes: Fields): void {
    this.#objects.update(id, changes);
  }

  /** Pays a session as its customer would. Creates the subscription, if it is for one. */
  pay(sessionId: string, at: Date): Fields {
    return paySession(this.#objects, sessionId, at);
  }

  /** Adds an object that was created in Stripe's dashboard. */
  add(kind: 'charge' | 'refund' | 'dispute', fields: Fields): string {
    const prefix = { charge: 'ch', refund: 're', dispute: 'dp' }[kind];
    return String(this.#objects.put(kind, prefix, fields)['id']);
  }

  /** Expires all idempotency keys, as Stripe does after a day. */
  forgetKeys(): void {
    this.#answers.clear();
  }

  /** Creates an event about the current state of an object. */
  event(type: string, id: string): Fields {
    return {
      ...fixtures.event,
      id: this.#objects.newId('evt'),
      api_version: '2026-09-30.endive',
      type,
      created: Math.floor(Date.now() / 1000),
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
    const params = parseForm(new URLSearchParams(Buffer.concat(chunks).toString() || search));
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
    const objects = this.#objects;
    const [, , kind, ...rest] = path.split('/');
    const [owner = '', action = ''] = rest;
    if (method === 'GET' && LISTED[path] !== undefined) return this.#listAll(path, LISTED[path], params);
    if (method === 'POST' && path === '/v1/customers') return objects.put('customer', 'cus', params);
    if (method === 'POST' && path === '/v1/checkout/sessions') return await this.#makeSession(params);
    if (method === 'POST' && path === '/v1/billing_portal/sessions') {
      const portal = objects.put('billing_portal.session', 'bps', params);
      return Object.assign(portal, { url: `https://billing.stripe.test/${String(portal['id'])}` });
    }
    if (method === 'POST' && path === '/v1/refunds')
      return this.refuseRefunds ? new Error('charge_disputed') : refund(objects, params);
    if (method === 'POST' && path === '/v1/payment_intents') return await this.#charge(params);
    if (kind === 'payment_intents' && action === 'cancel') return cancelPayment(objects, owner);
    if (action === 'payment_methods') return this.#listNewestFirst(path, 'payment_method', { customer: owner });
    if (method === 'GET' && path === '/v1/payment_intents')
      return this.#listNewestFirst(path, 'payment_intent', params);
    if (method === 'POST' && path === '/v1/invoices') return makeInvoice(objects, params);
    if (method === 'POST' && path === '/v1/invoiceitems') return addInvoiceItem(objects, params);
    if (method === 'POST' && kind === 'invoices') return changeInvoice(objects, owner, action, params);
    if (method === 'GET' && path === '/v1/events') return this.#listEvents(params);
    return await this.#readOrChange(method, path, params);
  }

  /** Reads a single object, after the change that the method asks for. */
  async #readOrChange(method: string, path: string, params: Fields): Promise<Fields | undefined> {
    const object = this.#objects.find(path.split('/').at(-1) ?? '');
    if (object === undefined) return undefined;
    if (method === 'POST' && path.startsWith('/v1/subscriptions/'))
      Object.assign(object, { cancel_at_period_end: params['cancel_at_period_end'] === 'true' });
    if (method === 'POST' && path.startsWith('/v1/customers/')) Object.assign(object, params);
    if (method === 'DELETE') Object.assign(object, { status: 'canceled', ended_at: Math.floor(Date.now() / 1000) });
    const read = structuredClone(object);
    const latest = read['latest_invoice'];
    if (params['expand'] !== undefined && typeof latest === 'string') read['latest_invoice'] = this.object(latest);
    await this.afterRead(path);
    return read;
  }

  async #makeSession(params: Fields): Promise<Fields> {
    const session = makeSession(this.#objects, params);
    await this.onSessionMade(session);
    return structuredClone(session);
  }

  async #charge(params: Fields): Promise<Fields | CardError> {
    const outcome = this.charges;
    const payment = makePayment(this.#objects, params, outcome);
    await this.onCharged();
    return isAccepted(outcome) ? structuredClone(payment) : new CardError(outcome, structuredClone(payment));
  }

  /** Lists objects in one page. `status` is `all` or one state. */
  #listAll(url: string, kind: string, { status = 'all', payment_intent: payment, customer }: Fields): Fields {
    const data = this.list(kind).filter(
      (object) =>
        (status === 'all' || object['status'] === status) &&
        (payment === undefined || object['payment_intent'] === payment) &&
        (customer === undefined || object['customer'] === customer),
    );
    return toList(url, data);
  }

  #listNewestFirst(url: string, kind: string, { customer }: Fields): Fields {
    const data = this.list(kind).filter((object) => customer === undefined || object['customer'] === customer);
    return toList(url, data.toReversed());
  }

  /** Lists undelivered events in pages, newest first. */
  #listEvents(params: Fields): Fields {
    const types = params['types'];
    const since = Number(Object(params['created'])['gte'] ?? 0);
    const wanted = this.undelivered.filter(
      ({ type, created }) => (!Array.isArray(types) || types.includes(type)) && Number(created) >= since,
    );
    const start = wanted.findIndex(({ id }) => id === params['starting_after']) + 1;
    const data = wanted.slice(start, start + Number(params['limit'] ?? 10));
    return { object: 'list', url: '/v1/events', data, has_more: start + data.length < wanted.length };
  }
}

const answer = (res: ServerResponse, status: number, body: Fields): void => {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_of_stripe' });
  res.end(JSON.stringify(body));
};
