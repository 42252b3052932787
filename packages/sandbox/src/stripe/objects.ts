import fixtures from './stripe-fixtures.json' with { type: 'json' };

/** Members of an object, as Stripe names them. */
export type Fields = Record<string, unknown>;

/** Metadata of an object. */
export type Metadata = Readonly<Record<string, string>>;

interface Common extends Fields {
  readonly id: string;
  readonly created: number;
  readonly metadata: Metadata;
}

export interface Customer extends Common {
  readonly deleted?: boolean;
  /** Name of the business. */
  readonly name: string | null;
  readonly preferred_locales: readonly string[];
  readonly sandbox?: { readonly vat_number: string | null };
}

export interface Session extends Common {
  readonly mode: 'subscription' | 'payment';
  readonly customer: string;
  readonly client_reference_id: string | null;
  readonly status: 'open' | 'complete' | 'expired';
  readonly expires_at: number;
  readonly amount_subtotal: number;
  readonly amount_total: number;
  readonly currency: string;
  readonly success_url: string;
  readonly cancel_url: string;
  readonly subscription: string | null;
  readonly payment_intent: string | null;
  readonly total_details: { readonly amount_discount: number };
  /** Price of the plan; null for a top-up. */
  readonly price: string | null;
  readonly quantity?: number;
  readonly subscription_metadata: Metadata;
  readonly sandbox: {
    /** Price of the plan, in case the plan is taken off the list; null for a top-up. */
    readonly price: Price | null;
    readonly promotion_code: string | null;
    readonly is_challenged: boolean;
    readonly failure: 'declined' | 'not_confirmed' | null;
  };
}

export interface Price {
  readonly id: string;
  readonly product: string;
  readonly recurring: { readonly interval: 'month' | 'year' };
  readonly [member: string]: unknown;
}

export interface SubscriptionItem {
  readonly id: string;
  readonly price: Price;
  readonly quantity?: number;
  readonly current_period_start: number;
  readonly current_period_end: number;
  readonly [member: string]: unknown;
}

export interface Subscription extends Common {
  readonly customer: string;
  readonly status: string;
  readonly items: { readonly object: 'list'; readonly data: readonly SubscriptionItem[] };
  readonly billing_cycle_anchor: number;
  readonly cancel_at_period_end: boolean;
  readonly ended_at: number | null;
  readonly default_payment_method: string | null;
  readonly latest_invoice: string | null;
  readonly sandbox: {
    readonly when_unpaid: 'canceled' | 'unpaid';
    readonly clock_ahead_seconds: number;
    readonly failed_attempts: number;
    readonly next_attempt_at: number | null;
    readonly credit_micros: number;
    readonly paid_micros: number;
  };
}

export interface PaymentIntent extends Common {
  readonly customer: string;
  readonly amount: number;
  readonly amount_received: number;
  readonly currency: string;
  readonly status: 'succeeded' | 'processing' | 'requires_payment_method' | 'canceled';
}

export interface PaymentMethod extends Common {
  readonly type: string;
  readonly customer: string;
  readonly card?: { readonly brand: string; readonly last4: string };
}

export interface Refund extends Common {
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: 'succeeded' | 'failed' | 'canceled' | 'pending';
}

export interface Dispute extends Common {
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
}

export interface Invoice extends Common {
  readonly customer: string;
  readonly status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  readonly number: string | null;
  readonly currency: string;
  readonly total: number;
  readonly total_excluding_tax: number;
  readonly description: string | null;
  readonly customer_name: string | null;
  readonly customer_tax_ids: readonly { readonly type: string; readonly value: string }[];
  readonly effective_at: number | null;
  readonly lines: { readonly object: 'list'; readonly data: readonly InvoiceLine[] };
  readonly payments: { readonly object: 'list'; readonly data: readonly InvoicePayment[] };
  readonly parent: { readonly subscription_details: { readonly subscription: string } } | null;
  readonly sandbox: { readonly tax_percent: number };
}

export interface InvoiceLine {
  readonly amount: number;
  readonly description: string | null;
  readonly period: { readonly start: number; readonly end: number } | null;
  /** Name of the plan; null for a top-up. */
  readonly plan_name: string | null;
}

export interface InvoicePayment extends Fields {
  readonly status: string;
  readonly payment: { readonly payment_intent: string };
}

export interface Portal extends Common {
  readonly customer: string;
  readonly return_url: string;
  readonly sandbox: { readonly is_challenged: boolean };
}

export interface StripeEvent extends Common {
  readonly type: string;
  readonly data: { readonly object: Fields };
  /** Endpoints that have not accepted it yet. */
  readonly pending_webhooks: number;
}

/** Kinds of objects by their name on the wire. */
export interface Kinds {
  readonly charge: Common;
  readonly 'billing_portal.session': Portal;
  readonly 'checkout.session': Session;
  readonly customer: Customer;
  readonly dispute: Dispute;
  readonly event: StripeEvent;
  readonly invoice: Invoice;
  readonly invoice_payment: InvoicePayment & Common;
  readonly payment_intent: PaymentIntent;
  readonly payment_method: PaymentMethod;
  readonly refund: Refund;
  readonly subscription: Subscription;
}

export interface ObjectsOptions {
  /** Current time in milliseconds. */
  readonly nowMs: () => number;
  /** Makes an id from its prefix and a number that grows. Default: the number itself. */
  readonly newId?: ((prefix: string, count: number) => string) | undefined;
  /** Called with each object that was added or changed, and with undefined for one that was deleted. */
  readonly onChange?: ((id: string, object: Fields | undefined) => void) | undefined;
}

/** Objects of the account, in the shapes of Stripe's published fixtures. */
export class StripeObjects {
  readonly #byKind = new Map<unknown, Map<string, Fields>>();
  readonly #kinds = new Map<string, unknown>();
  readonly #options: ObjectsOptions;
  #count = 0;

  constructor(options: ObjectsOptions) {
    this.#options = options;
  }

  nowSeconds(): number {
    return Math.floor(this.#options.nowMs() / 1000);
  }

  find(id: string): Fields | undefined {
    return this.#byKind.get(this.#kinds.get(id))?.get(id);
  }

  get(id: string): Fields {
    const object = this.find(id);
    if (object === undefined) throw new Error(`the stand-in has no ${id}`);
    return object;
  }

  /** Finds an object of a kind. */
  of<K extends keyof Kinds>(kind: K, id: string): Kinds[K] | undefined {
    // Each object is stored under its kind, with the members that this account gave it.
    return this.#byKind.get(kind)?.get(id) as Kinds[K] | undefined;
  }

  /** Lists the objects of a kind, oldest first. */
  list<K extends keyof Kinds>(kind: K): Kinds[K][] {
    // As above.
    return [...(this.#byKind.get(kind)?.values() ?? [])] as Kinds[K][];
  }

  update(id: string, changes: Fields): void {
    this.#store({ ...this.get(id), ...changes });
  }

  /** Stores an object as it is, such as one of a journal. */
  set(object: Fields): void {
    this.#store(object);
    this.#count = Math.max(this.#count, Number(/_(\d{14})/.exec(String(object['id']))?.[1] ?? 0));
  }

  delete(id: string): void {
    this.#byKind.get(this.#kinds.get(id))?.delete(id);
    this.#kinds.delete(id);
    this.#options.onChange?.(id, undefined);
  }

  /** Adds an object: the fixture of its kind with these members. */
  put<K extends keyof Kinds>(kind: K, prefix: string, fields: Fields): Kinds[K] {
    const shape: Fields = Object.entries(fixtures).find(([name]) => name === kind)?.[1] ?? {};
    const object = { ...structuredClone(shape), created: this.nowSeconds(), livemode: false, ...fields };
    const id = this.newId(prefix);
    this.#store({ ...object, id, object: kind });
    // It was stored under this kind.
    return this.get(id) as Kinds[K];
  }

  newId(prefix: string): string {
    this.#count += 1;
    return this.#options.newId?.(prefix, this.#count) ?? `${prefix}_${String(this.#count).padStart(14, '0')}`;
  }

  #store(object: Fields): void {
    const id = String(object['id']);
    const { object: kind } = object;
    const siblings = this.#byKind.get(kind) ?? new Map<string, Fields>();
    siblings.set(id, object);
    this.#byKind.set(kind, siblings);
    this.#kinds.set(id, kind);
    this.#options.onChange?.(id, object);
  }
}
