import type { Catalog } from './catalog.ts';
import type { Fields, StripeObjects } from './objects.ts';

/** An account at Stripe: its objects, its prices, and what happens in it. */
export interface Account {
  readonly objects: StripeObjects;
  readonly catalog: Catalog;
  /** Base of the addresses of hosted pages. */
  readonly publicBaseUrl: string;
  readonly misbehavior: Misbehavior;
  /** Records an event about the present state of an object. */
  readonly raise: (type: string, object: Fields) => void;
  /** Delivers the events that were recorded so far, in order. */
  readonly announce: () => Promise<void>;
}

/** Outcome of payments without the customer: a status, or the code of a card error. */
export type ChargeOutcome = 'succeeded' | 'processing' | 'card_declined' | 'authentication_required';

/** Faults and delays that a test asks for. */
export interface Misbehavior {
  /** Faults of the next requests: a status, or a closed connection. */
  readonly faults: (number | 'reset')[];
  /** Awaited after an object is read and before the response, so that a test can delay it. */
  afterRead: (path: string) => Promise<void>;
  /** Awaited after a session is created and before the response. */
  onSessionMade: (session: Fields) => Promise<void>;
  /** Awaited after an automatic payment is made and before the response. */
  onCharged: () => Promise<void>;
  /** Awaited after a request is carried out. If it resolves with true, the answer is lost and the connection is closed. */
  losesAnswer: (method: string, path: string) => Promise<boolean>;
  /** Outcome of payments without the customer. Default: that of the card. */
  charges: ChargeOutcome | undefined;
  /** Refuses all refunds, as Stripe does for a disputed payment. */
  refuseRefunds: boolean;
  /** Refuses requests with the code that it returns, such as one with an archived price; `outage` answers 500. */
  refuse: (method: string, path: string, params: Fields) => string | undefined;
}

const NONE: Omit<Misbehavior, 'faults'> = {
  afterRead: async () => undefined,
  onSessionMade: async () => undefined,
  onCharged: async () => undefined,
  losesAnswer: async () => false,
  charges: undefined,
  refuseRefunds: false,
  refuse: () => undefined,
};

export const createMisbehavior = (): Misbehavior => ({ faults: [], ...NONE });

/** Ends all faults. */
export const behave = (misbehavior: Misbehavior): void => {
  misbehavior.faults.length = 0;
  Object.assign(misbehavior, NONE);
};

/** A declined payment. */
export class CardError extends Error {
  readonly payment: Fields;
  constructor(code: string, payment: Fields) {
    super(code);
    this.payment = payment;
  }
}

/** A request that Stripe refuses, with the code and the parameter at fault. */
export class Refusal extends Error {
  readonly param: string | undefined;
  constructor(code: string, param?: string) {
    super(code);
    this.param = param;
  }
}

/** A request that Stripe fails to answer. */
export class Outage extends Error {}
