import type { Knex } from 'knex';

/** Use of an app over its users. */
interface TypicalUse {
  /** Users with use that cost anything, at most `TYPICAL_USERS_MAX`. */
  readonly users: number;
  /** Median share of a weekly limit, 0 to 1. Null without users. */
  readonly medianShare: number | null;
}

/** Whole weeks before today. */
const WEEKS = 4;
/** Users that the median is taken over, which bounds the cost of the query for large apps. */
const TYPICAL_USERS_MAX = 1_000;
/** Rows that are searched for these users. */
const SEARCHED_ROWS_MAX = 20_000;

/**
 * Returns the median share of the plan's weekly limit that users spend on an app. The share of a user is the average over
 * the weeks in which they used the app, measured by their present plan.
 */
export const findTypicalUse = async (database: Knex, clientId: string): Promise<TypicalUse> => {
  const { rows } = await database.raw<{ rows: TypicalUse[] }>(
    `WITH days AS (SELECT t.today, t.today - 7 * ${WEEKS} AS first_day
         FROM (SELECT (billing_now() AT TIME ZONE 'UTC')::date AS today) AS t),
       users AS (SELECT DISTINCT svc_user_id FROM (
           SELECT d.svc_user_id FROM days, usage_days AS d
             WHERE d.client_id = :clientId AND d.day >= days.first_day AND d.day < days.today AND d.cost_micros > 0
             LIMIT ${SEARCHED_ROWS_MAX}) AS searched
         LIMIT ${TYPICAL_USERS_MAX}),
       weeks AS (SELECT u.svc_user_id, w.micros FROM days, users AS u CROSS JOIN LATERAL (
           SELECT sum(d.cost_micros) / count(DISTINCT (days.today - 1 - d.day) / 7) AS micros FROM usage_days AS d
             WHERE d.svc_user_id = u.svc_user_id AND d.client_id = :clientId
               AND d.day >= days.first_day AND d.day < days.today AND d.cost_micros > 0) AS w)
     SELECT count(*)::int AS users, percentile_cont(0.5) WITHIN GROUP (
         ORDER BY least(w.micros / p.weekly_limit_micros, 1)::float8) AS "medianShare"
       FROM weeks AS w JOIN accounts AS a USING (svc_user_id)
         JOIN plans AS p ON p.id = a.plan_id AND p.weekly_limit_micros > 0`,
    { clientId },
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a query that always returns a row returned none');
  return row;
};
