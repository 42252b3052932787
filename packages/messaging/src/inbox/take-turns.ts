import type { Knex } from 'knex';
import { raiseVersions } from './queries.ts';

export interface VersionedFact {
  readonly aggregate: string;
  readonly version: number;
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
 * Drops stale facts. Throws VersionGap if an earlier version is missing; the transaction must then roll back.
 */
export const takeTurns = async <F extends VersionedFact>(
  trx: Knex.Transaction,
  { versionsOf, deliveriesMax }: TurnOptions,
  facts: readonly F[],
): Promise<F[]> => {
  const newest = new Map<string, number>();
  for (const { aggregate, version } of facts) {
    newest.set(aggregate, Math.max(version, newest.get(aggregate) ?? 0));
  }
  const handled = await raiseVersions(trx, versionsOf, newest);
  return facts.filter(({ aggregate, version, deliveries }) => {
    const before = handled.get(aggregate);
    if (before !== undefined && version <= before) return false;
    const isMissing = version > (before ?? 0) + 1;
    if (isMissing && deliveries < deliveriesMax[before === undefined ? 'unseen' : 'known']) throw new VersionGap();
    handled.set(aggregate, version);
    return true;
  });
};
