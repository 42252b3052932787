import { createHmac } from 'node:crypto';
import type { Fields, StripeEvent, StripeObjects } from './objects.ts';

/** Version of the API in which events are written. */
const API_VERSION = '2026-09-30.endive';
/** Events that the account keeps. Stripe keeps those of 30 days. */
const EVENTS_MAX = 20_000;
/** Undelivered events that one run tries again. */
const RETRIES_MAX = 200;

/** Sends a signed event to the endpoint of the merchant. Resolves with true if it was accepted. */
export type SendEvent = (body: string, signature: string) => Promise<boolean>;

/** The events of an account, and their delivery: as they happen, or in any order when a test asks for it. */
export class StripeEvents {
  /** While true, events wait until `deliver` is called for them. */
  isHeld = false;
  readonly #objects: StripeObjects;
  readonly #secret: string;
  readonly #send: SendEvent | undefined;
  /** Raised and not yet sent for the first time. */
  #raised: string[] = [];
  readonly #kept: string[] = [];

  /** Without an endpoint, events are recorded and count as delivered. */
  constructor(objects: StripeObjects, secret: string, send: SendEvent | undefined) {
    this.#objects = objects;
    this.#secret = secret;
    this.#send = send;
    for (const { id } of objects.list('event')) this.#kept.push(id);
  }

  raise(type: string, object: Fields): void {
    const { id } = this.#objects.put('event', 'evt', {
      ...describe(type, object),
      pending_webhooks: this.#send === undefined ? 0 : 1,
    });
    if (this.#send !== undefined) this.#raised.push(id);
    this.#kept.push(id);
    while (this.#kept.length > EVENTS_MAX) this.#objects.delete(String(this.#kept.shift()));
  }

  /** Delivers the events that were raised so far, in order. Those that fail are tried again by `retry`. */
  async announce(): Promise<void> {
    if (this.isHeld) return;
    const ids = this.#raised;
    this.#raised = [];
    for (const id of ids) await this.deliver(id);
  }

  /** Delivers one event, though it may have been delivered before. Returns true if it was accepted. */
  async deliver(id: string): Promise<boolean> {
    const event = this.#objects.of('event', id);
    if (event === undefined || this.#send === undefined) return false;
    const body = JSON.stringify(event);
    const isAccepted = await this.#send(body, sign(body, this.#secret, Math.floor(Date.now() / 1000)));
    if (isAccepted) this.#objects.update(id, { pending_webhooks: 0 });
    return isAccepted;
  }

  /** Lists the events that the endpoint has not accepted, oldest first. */
  waiting(): StripeEvent[] {
    return this.#objects.list('event').filter(({ pending_webhooks: pending }) => pending > 0);
  }

  /** Delivers again what the endpoint has not accepted. Stops at the first failure: the endpoint is down. */
  async retry(): Promise<void> {
    if (this.isHeld) return;
    const first = new Set(this.#raised);
    for (const { id } of this.waiting().slice(0, RETRIES_MAX)) {
      if (!first.has(id) && !(await this.deliver(id))) return;
    }
  }
}

/** Returns the members of an event about the present state of an object. */
export const describe = (type: string, object: Fields): Fields => ({
  api_version: API_VERSION,
  type,
  request: null,
  data: { object: structuredClone(object) },
});

/** Returns the signature header of a body. */
export const sign = (body: string, secret: string, timestamp: number): string =>
  `t=${timestamp},v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
