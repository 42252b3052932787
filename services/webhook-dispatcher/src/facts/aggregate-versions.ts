import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { sqlArray } from '../sql-array.ts';

/** What places a fact among the others about the same thing. */
export interface VersionedFact {
  readonly aggregate: string;
  readonly version: number;
  readonly occurred_at: string;
}

/** A missing version is waited for this long, counted from the later fact; then it is taken as lost. */
const GAP_WAIT_MS = 30_000;

/**
 * Keeps the facts that are new, in their order, and notes their versions; stale ones are dropped. Throws AppError of kind
 * `unavailable` when one has to wait for an earlier version of its aggregate that has not been handled yet.
 */
export async function takeNewFacts<F extends VersionedFact>(
  trx: Knex.Transaction,
  facts: readonly F[],
  clock: () => Date,
): Promise<F[]> {
  const versions = await lockVersions(trx, [...new Set(facts.map(({ aggregate }) => aggregate))]);
  const fresh = facts.filter((fact) => {
    const known = versions.get(fact.aggregate) ?? 0;
    if (fact.version <= known) return false;
    const ageMs = clock().getTime() - Date.parse(fact.occurred_at);
    if (fact.version > known + 1 && ageMs < GAP_WAIT_MS) {
      throw new AppError('service_unavailable', 'An earlier fact is still missing.');
    }
    versions.set(fact.aggregate, fact.version);
    return true;
  });
  await updateVersions(trx, versions);
  return fresh;
}

async function lockVersions(trx: Knex.Transaction, aggregates: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await trx.raw<{ rows: { aggregate: string; version: number }[] }>(
    `INSERT INTO aggregate_versions AS known (aggregate, version)
     SELECT aggregate, 0 FROM unnest(?::text[]) AS given (aggregate) ORDER BY aggregate
     ON CONFLICT (aggregate) DO UPDATE SET version = known.version RETURNING aggregate, version`,
    [sqlArray(aggregates)],
  );
  return new Map(rows.map(({ aggregate, version }) => [aggregate, version]));
}

async function updateVersions(trx: Knex.Transaction, versions: ReadonlyMap<string, number>): Promise<void> {
  await trx.raw(
    `UPDATE aggregate_versions SET version = given.version
     FROM unnest(?::text[], ?::int[]) AS given (aggregate, version)
     WHERE aggregate_versions.aggregate = given.aggregate`,
    [sqlArray([...versions.keys()]), sqlArray([...versions.values()])],
  );
}
