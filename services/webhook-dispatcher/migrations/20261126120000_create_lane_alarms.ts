import type { Knex } from 'knex';

/**
 * Blocked lanes whose owners are mailed: when a lane blocks, and when it delivers again. An event that blocks its lane once
 * more, after a retry, has more attempts than before.
 */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(
    `CREATE TABLE lane_alarms (
       client_id text PRIMARY KEY REFERENCES lanes ON DELETE CASCADE,
       sequence bigint NOT NULL,
       attempts integer NOT NULL,
       change text NOT NULL CHECK (change IN ('blocked', 'recovered')),
       is_mailed boolean NOT NULL DEFAULT false
     );
     CREATE INDEX lane_alarms_to_mail ON lane_alarms (client_id) WHERE NOT is_mailed`,
  );
};
