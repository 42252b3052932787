import type { Fields } from './objects.ts';

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
