import type { Knex } from 'knex';
import { type EpochVersion, isEarlier, raiseVersions } from './inbox-tables.ts';

export interface VersionedFact extends EpochVersion {
  readonly aggregate: string;
  /** Deliveries of the message that carries the fact. */
  readonly deliveries: number;
}

export interface TurnOptions {
  /** Name under which versions are kept. Consumers that share aggregates share it. */
  readonly versionsOf: string;
  /**
   * Deliveries of a fact after which a missing earlier version counts as lost. Deliveries tell more than the age of a fact:
   * after an outage all facts are old.
   */
  readonly deliveriesMax: {
    readonly known: number;
    /** For an aggregate that was never seen, whose earlier versions may have expired from the stream. */
    readonly unseen: number;
  };
}

/** An earlier version of the aggregate has not been handled yet. */
export class VersionGap extends Error {
  override readonly name = 'VersionGap';
  readonly kind = 'unavailable';
  readonly code = 'messaging.version_gap';
}

/**
 * Returns the facts that are next in their aggregates, in order, and records their versions in the handling transaction.
 * Drops stale facts, and takes the first fact of a newer epoch regardless of its version: versions between are none of that database's. Throws VersionGap if an earlier version is missing; the transaction must then roll back.
 */
export const takeTurns = async <F extends VersionedFact>(
  trx: Knex.Transaction,
  { versionsOf, deliveriesMax }: TurnOptions,
  facts: readonly F[],
): Promise<F[]> => {
  const newest = new Map<string, EpochVersion>();
  for (const fact of facts) {
    const other = newest.get(fact.aggregate);
    if (other === undefined || isEarlier(other, fact)) newest.set(fact.aggregate, fact);
  }
  const handled = await raiseVersions(trx, versionsOf, newest);
  return facts.filter((fact) => {
    const { aggregate, epoch, version, deliveries } = fact;
    const before = handled.get(aggregate);
    if (before !== undefined && !isEarlier(before, fact)) return false;
    const isMissing = version > (before?.version ?? 0) + 1 && (before === undefined || before.epoch === epoch);
    if (isMissing && deliveries < deliveriesMax[before === undefined ? 'unseen' : 'known']) throw new VersionGap();
    handled.set(aggregate, fact);
    return true;
  });
};
