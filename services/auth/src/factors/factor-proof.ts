import type { Transaction } from '../transact.ts';

/** A valid proof of a second factor that is not used up yet. */
export interface FactorProof {
  /** Uses the proof up. Returns false if another request used it first. */
  readonly use: (trx: Transaction) => Promise<boolean>;
}
