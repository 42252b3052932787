import { runPrepared } from '@svc/database';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';

/** What places a fact among the others about the same thing. */
export interface VersionedFact {
  readonly aggregate: string;
  readonly version: number;
  /** How often the message that it came in has been delivered. */
  readonly deliveries: number;
}

/**
 * At this delivery of a fact a version missing before it is taken as lost, nearly four minutes after the first: what another
 * replica or the other consumer has in hand is done, or delivered again, long before. The age of the fact would not tell that:
 * after an outage all facts are old.
 */
const GAP_DELIVERIES = 8;

/** One statement for all: the row stays locked until the transaction ends, and the old version tells what is new. */
const RAISE_VERSIONS = {
  name: 'raise_versions',
  text: `INSERT INTO aggregate_versions AS known (aggregate, version)
    SELECT * FROM unnest($1::text[], $2::int[]) AS given (aggregate, version) ORDER BY aggregate
    ON CONFLICT (aggregate) DO UPDATE SET version = greatest(known.version, excluded.version)
    RETURNING known.aggregate, coalesce(old.version, 0) AS before`,
};

/**
 * Keeps the facts that are new, in their order, and notes their versions; stale ones are dropped. Throws AppError of kind
 * `unavailable` when one has to wait for an earlier version of its aggregate that has not been handled yet; `trx` is then to
 * be rolled back.
 */
export const takeNewFacts = async <F extends VersionedFact>(
  trx: Knex.Transaction,
  facts: readonly F[],
): Promise<F[]> => {
  const newest = new Map<string, number>();
  for (const { aggregate, version } of facts) {
    newest.set(aggregate, Math.max(version, newest.get(aggregate) ?? 0));
  }
  const known = await raiseVersions(trx, newest);
  return facts.filter(({ aggregate, version, deliveries }) => {
    const before = known.get(aggregate) ?? 0;
    if (version <= before) return false;
    if (version > before + 1 && deliveries < GAP_DELIVERIES) {
      throw new AppError('service_unavailable', 'An earlier fact is still missing.');
    }
    known.set(aggregate, version);
    return true;
  });
};

/** Answers the versions from before. */
const raiseVersions = async (
  trx: Knex.Transaction,
  newest: ReadonlyMap<string, number>,
): Promise<Map<string, number>> => {
  const rows = await runPrepared<{ aggregate: string; before: number }>(trx, RAISE_VERSIONS, [
    [...newest.keys()],
    [...newest.values()],
  ]);
  return new Map(rows.map(({ aggregate, before }) => [aggregate, before]));
};
