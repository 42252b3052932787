import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/** Each batch commits on its own, because a row that is copied makes the previous release's writers of it wait. */
export const config = { transaction: false };

const COPY_BATCH = `WITH batch AS (
    SELECT aggregate, version FROM aggregate_versions WHERE aggregate > ? ORDER BY aggregate LIMIT 5000
  ), copied AS (
    INSERT INTO inbox_versions (consumer, aggregate, version)
      SELECT 'webhook-dispatcher_connections', aggregate, version FROM batch
      ON CONFLICT (consumer, aggregate) DO NOTHING
  )
  SELECT max(aggregate) AS last FROM batch`;

/**
 * Copies the versions of connections to `inbox_versions`. From then on a version that this release records is copied back for
 * the replicas of the previous release.
 *
 * The next release drops the function with its trigger.
 */
export const up = async (knex: Knex): Promise<void> => {
  let last: string | null = '';
  while (last !== null) {
    const result: { rows: { last: string | null }[] } = await knex.raw(COPY_BATCH, [last]);
    last = result.rows[0]?.last ?? null;
  }
  await knex.raw(readFileSync(new URL('./functions/mirror_to_aggregate_versions.sql', import.meta.url), 'utf8'));
  await knex.raw(
    `CREATE OR REPLACE TRIGGER inbox_versions_mirror AFTER INSERT OR UPDATE OF version ON inbox_versions
       FOR EACH ROW WHEN (NEW.consumer = 'webhook-dispatcher_connections')
       EXECUTE FUNCTION mirror_to_aggregate_versions()`,
  );
};
