import { randomBytes } from 'node:crypto';
import type { ConfiguredPlan, SandboxCard } from '@svc/contracts';
import type { Account } from './account.ts';
import { behave, createMisbehavior, type Misbehavior } from './account.ts';
import { renewDue } from './advance-subscription.ts';
import { type ApiCall, type ApiResponse, answerApiRequest } from './answer-api-request.ts';
import { saveCard } from './cards.ts';
import { createCatalog } from './catalog.ts';
import { findSession, paySession } from './checkout-sessions.ts';
import { describe, type SendEvent, StripeEvents, sign } from './events.ts';
import type { Journal } from './journal.ts';
import { type Fields, type Kinds, StripeObjects } from './objects.ts';
import { refund, restOf } from './payments.ts';
import { deleteCustomer } from './requests.ts';
import { changeSubscription } from './subscriptions.ts';

export interface StandInOptions {
  /** Plans that the merchant sells, each with its price. */
  readonly plans: readonly ConfiguredPlan[];
  /** Base of the addresses of hosted pages. */
  readonly publicBaseUrl: string;
  /** Signing secret of the event endpoint. Default: a random one. */
  readonly secret?: string | undefined;
  /** Delivers events. Without it, events are recorded only. */
  readonly send?: SendEvent | undefined;
  /** Default: the clock of the machine. */
  readonly nowMs?: (() => number) | undefined;
  readonly newId?: ((prefix: string, count: number) => string) | undefined;
  /** Keeps the account over restarts. Without it, the account is gone with the process. */
  readonly journal?: Journal | undefined;
}

const PREFIXES = { charge: 'ch', refund: 're', dispute: 'dp', payment_method: 'pm', payment_intent: 'pi' } as const;
type AddedKind = keyof typeof PREFIXES;

/**
 * Stand-in for Stripe: objects of API version 2026-09-30 in the shapes of Stripe's published fixtures, form-encoded
 * requests, idempotency keys bound to their parameters, paged lists and signed events. `answer` takes requests of its
 * API. The other methods act as customers, as support in the dashboard, or as an unreliable network.
 */
export class StripeStandIn {
  readonly calls: ApiCall[] = [];
  readonly secret: string;
  readonly misbehavior: Misbehavior = createMisbehavior();
  readonly account: Account;
  readonly events: StripeEvents;
  /** Further events that the account lists as undelivered, newest first. */
  undelivered: Fields[] = [];
  readonly #objects: StripeObjects;
  readonly #answers = new Map<
    string,
    { readonly request: string; readonly answer: ApiResponse; readonly at: number }
  >();

  constructor(options: StandInOptions) {
    const { plans, publicBaseUrl, nowMs = Date.now, newId, journal } = options;
    this.secret = options.secret ?? `whsec_${randomBytes(12).toString('hex')}`;
    let isLoaded = false;
    const objects = new StripeObjects({
      nowMs,
      newId,
      onChange: (id, object) => {
        if (isLoaded) journal?.write(id, object);
      },
    });
    for (const object of journal?.objects ?? []) objects.set(object);
    isLoaded = true;
    this.#objects = objects;
    this.events = new StripeEvents(objects, this.secret, options.send);
    this.account = {
      objects,
      catalog: createCatalog(plans),
      publicBaseUrl,
      misbehavior: this.misbehavior,
      raise: (type, object) => this.events.raise(type, object),
      announce: () => this.events.announce(),
    };
  }

  /** Answers a request of the API. Resolves with undefined if the connection is to be closed instead. */
  async answer(call: ApiCall): Promise<ApiResponse | undefined> {
    this.calls.push(call);
    const answers = this.#answers;
    const answer = await answerApiRequest(this.account, call, { answers, undelivered: this.undelivered });
    // The merchant's call must not wait for the merchant's endpoint.
    void this.events.announce();
    return answer;
  }

  /** Does what is due: renewals, retries of payments, and events that were not accepted. */
  async run(): Promise<void> {
    await renewDue(this.account);
    await this.events.announce();
    await this.events.retry();
  }

  object(id: string): Fields {
    return this.#objects.get(id);
  }

  list<K extends keyof Kinds>(kind: K): Kinds[K][] {
    return this.#objects.list(kind);
  }

  update(id: string, changes: Fields): void {
    this.#objects.update(id, changes);
  }

  /** Pays a session as its customer would. Creates the subscription, if it is for one. */
  pay(sessionId: string, at: Date): Fields {
    const session = findSession(this.account, sessionId);
    if (session === undefined) throw new Error(`the stand-in has no session ${sessionId}`);
    if (session.status !== 'expired') paySession(this.account, session, { card: 'succeeds', at });
    return this.#objects.get(sessionId);
  }

  /** Adds an object that was created in Stripe's dashboard. */
  add(kind: AddedKind, fields: Fields): string {
    return this.#objects.put(kind, PREFIXES[kind], fields).id;
  }

  /** Saves another card of a customer, which decides what becomes of later charges. */
  saveCard(customer: string, card: SandboxCard): void {
    saveCard(this.#objects, customer, card);
  }

  /** Changes a subscription in the dashboard. */
  changeSubscription(id: string, changes: Fields): void {
    changeSubscription(this.account, id, changes);
  }

  /** Refunds a part of a payment in the dashboard. Throws if less is left. */
  refund(paymentId: string, amount: number): Fields {
    return refund(this.account, { payment_intent: paymentId, amount });
  }

  /** Amount of a payment that no refund and no dispute has taken. */
  rest(paymentId: string): number {
    const payment = this.#objects.of('payment_intent', paymentId);
    return payment === undefined ? 0 : restOf(this.account, payment);
  }

  /** Records an event about the present state of an object. */
  tell(type: string, id: string): void {
    this.events.raise(type, this.object(id));
  }

  /** Deletes a customer in the dashboard. Its id stays known, but for reading only. */
  deleteCustomer(id: string): void {
    deleteCustomer(this.account, id);
  }

  /** Forgets an object, as if the key were of another account or mode. */
  forget(id: string): void {
    this.#objects.delete(id);
  }

  /** Expires all idempotency keys, as Stripe does after a day. */
  forgetKeys(): void {
    this.#answers.clear();
  }

  /** Creates an event about the current state of an object, without recording it. */
  event(type: string, id: string): Fields {
    const created = this.#objects.nowSeconds();
    return { ...describe(type, this.object(id)), id: this.#objects.newId('evt'), object: 'event', created };
  }

  /** Returns the signature header of a body. */
  sign(body: string, secret = this.secret, at = Date.now()): string {
    return sign(body, secret, Math.floor(at / 1000));
  }

  /** Ends all faults and forgets the calls. */
  reset(): void {
    this.calls.length = 0;
    this.undelivered = [];
    behave(this.misbehavior);
  }
}
