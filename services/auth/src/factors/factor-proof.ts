import type { Transaction } from '../transact.ts';

/** A valid, unused proof of a second factor. */
export interface FactorProof {
  /** Uses the proof up. Returns false if another request used it first. */
  readonly use: (trx: Transaction) => Promise<boolean>;
}
