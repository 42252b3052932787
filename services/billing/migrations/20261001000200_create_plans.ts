import type { Knex } from 'knex';

/** Plans as last configured; one that is no longer offered stays for those who still have it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE plans (
      id text PRIMARY KEY,
      name text NOT NULL,
      interval text NOT NULL CHECK (interval IN ('month', 'year')),
      includes_chat boolean NOT NULL,
      includes_audio_transcription boolean NOT NULL,
      weekly_limit_micros bigint NOT NULL CHECK (weekly_limit_micros >= 0),
      monthly_limit_micros bigint NOT NULL CHECK (monthly_limit_micros >= 0),
      stripe_price_id text,
      is_offered boolean NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX plans_by_stripe_price ON plans (stripe_price_id) WHERE stripe_price_id IS NOT NULL;
  `);
}
