import type { Knex } from 'knex';

/** The one clock of billing, and the windows in which use is counted: pure functions of an anchor and an instant. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The only place where billing reads the time. Not now(): a caller that has waited for a lock needs the time after it.
    CREATE FUNCTION billing_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$ SELECT clock_timestamp() $$;

    -- Consecutive 7 x 24 hours from the anchor, half-open, whatever months and leap years do.
    CREATE FUNCTION weekly_window(p_anchor timestamptz, p_at timestamptz, OUT starts_at timestamptz, OUT ends_at timestamptz)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT p_anchor + weeks.n * interval '168 hours', p_anchor + (weeks.n + 1) * interval '168 hours'
      FROM (SELECT floor(extract(epoch FROM p_at - p_anchor) / 604800)::float8 AS n) AS weeks
    $$;

    -- The anchor's day so many months later in UTC, clamped at month ends: 31 Jan, 28 Feb, 31 Mar.
    CREATE FUNCTION monthly_anniversary(p_anchor timestamptz, p_months int) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT (p_anchor AT TIME ZONE 'UTC' + make_interval(months => p_months)) AT TIME ZONE 'UTC'
    $$;

    -- The anniversary of the anchor's own calendar month is either past, or the window began a month earlier.
    CREATE FUNCTION anniversary_window(p_anchor timestamptz, p_at timestamptz, OUT starts_at timestamptz, OUT ends_at timestamptz)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
      anchor timestamp := p_anchor AT TIME ZONE 'UTC';
      at timestamp := p_at AT TIME ZONE 'UTC';
      months int := (extract(year FROM at) - extract(year FROM anchor)) * 12 + extract(month FROM at) - extract(month FROM anchor);
    BEGIN
      IF monthly_anniversary(p_anchor, months) > p_at THEN months := months - 1; END IF;
      starts_at := monthly_anniversary(p_anchor, months);
      ends_at := monthly_anniversary(p_anchor, months + 1);
    END $$;

    -- The paid month while it lasts. Otherwise (another interval, or a renewal notice that is late) the anniversaries.
    CREATE FUNCTION monthly_window(
      p_anchor timestamptz, p_interval text, p_period_start timestamptz, p_period_end timestamptz, p_at timestamptz,
      OUT starts_at timestamptz, OUT ends_at timestamptz)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    BEGIN
      IF p_interval = 'month' AND p_at >= p_period_start AND p_at < p_period_end THEN
        starts_at := p_period_start;
        ends_at := p_period_end;
      ELSE
        SELECT w.starts_at, w.ends_at INTO starts_at, ends_at FROM anniversary_window(p_anchor, p_at) AS w;
      END IF;
    END $$;
  `);
}
