import type { Fields } from './objects.ts';

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
