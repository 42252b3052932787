import { readFileSync } from 'node:fs';
import type { Knex } from 'knex';

/**
 * Copies each version that a replica of the previous release records in `aggregate_versions` to `inbox_versions`, where this
 * release keeps the versions of connections.
 *
 * The next release drops the function with its trigger, and the table `aggregate_versions` (docs/adr/0004).
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(readFileSync(new URL('./functions/mirror_to_inbox_versions.sql', import.meta.url), 'utf8'));
  await knex.raw(
    `CREATE TRIGGER aggregate_versions_mirror AFTER INSERT OR UPDATE OF version ON aggregate_versions
       FOR EACH ROW EXECUTE FUNCTION mirror_to_inbox_versions()`,
  );
};
