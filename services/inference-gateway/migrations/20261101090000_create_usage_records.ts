import type { Knex } from 'knex';

/** Metadata of every admitted request, by month of its start, so that old months go by dropping a partition. */
export const up = async (knex: Knex): Promise<void> => {
  await knex.raw(`
    CREATE TABLE usage_records (
      request_id text NOT NULL,
      started_at timestamptz NOT NULL,
      kind text NOT NULL,
      svc_user_id text NOT NULL,
      client_id text,
      key_id text,
      service text NOT NULL,
      model text NOT NULL,
      upstream_model text,
      provider text,
      route_id text,
      data_zone text,
      ingress_region text NOT NULL,
      upstream_request_id text,
      input_tokens bigint,
      output_tokens bigint,
      audio_ms bigint,
      is_estimated boolean NOT NULL,
      outcome text NOT NULL,
      cost_micros bigint NOT NULL,
      status smallint NOT NULL,
      streamed boolean NOT NULL,
      first_event_ms integer,
      duration_ms integer NOT NULL,
      CONSTRAINT usage_records_pkey PRIMARY KEY (request_id, started_at),
      CONSTRAINT usage_records_kind_known CHECK (kind IN ('delegated', 'api_key')),
      CONSTRAINT usage_records_outcome_known CHECK (outcome IN ('settled', 'released', 'uncertain')),
      CONSTRAINT usage_records_cost_not_negative CHECK (cost_micros >= 0),
      CONSTRAINT usage_records_released_is_free CHECK (outcome <> 'released' OR cost_micros = 0),
      CONSTRAINT usage_records_caller_known CHECK ((kind = 'api_key') = (key_id IS NOT NULL))
    ) PARTITION BY RANGE (started_at);
    CREATE TABLE usage_records_other PARTITION OF usage_records DEFAULT;
    CREATE INDEX usage_records_by_account ON usage_records (svc_user_id, started_at DESC, request_id DESC)
      WHERE kind = 'api_key';
    CREATE INDEX usage_records_by_key ON usage_records (key_id, started_at DESC, request_id DESC)
      WHERE kind = 'api_key';
    COMMENT ON TABLE usage_records IS 'Metadata of admitted requests; no prompt, answer or file ever.';
    COMMENT ON TABLE usage_records_other IS 'Catches what no month has a partition for; empty in ordinary times.';
  `);
};
