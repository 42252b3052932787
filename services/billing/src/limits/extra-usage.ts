import { type ExtraUsage, type ExtraUsageRequest, routes } from '@svc/contracts';
import { recordAct, runPrepared } from '@svc/database';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';

/** Setting of extra use, with the use of the current calendar month (UTC). */
interface ExtraStanding {
  readonly isEnabled: boolean;
  readonly maxMicros: number;
  readonly usedMicros: number;
  readonly resetsAt: Date;
}

const FIND = {
  name: 'find_extra_usage',
  text: `
    SELECT coalesce(e.is_enabled, false) AS "isEnabled", coalesce(e.monthly_max_micros, 0)::float8 AS "maxMicros",
      coalesce(e.used_micros, 0)::float8 AS "usedMicros", monthly_anniversary(m.starts_at, 1) AS "resetsAt"
    FROM (SELECT billing_now() AS at) AS c LEFT JOIN extra_usage AS v ON v.svc_user_id = $1
      CROSS JOIN LATERAL with_current_extra_month(v, c.at) AS e
      CROSS JOIN LATERAL (SELECT coalesce(e.month_start, date_trunc('month', c.at, 'UTC')) AS starts_at) AS m`,
};

/** Finds the extra use of an account; off with a ceiling of 0 until it is set. */
export const findExtraStanding = async (database: Knex, userId: string): Promise<ExtraStanding> => {
  const [row] = await runPrepared<ExtraStanding>(database, FIND, [userId]);
  if (row === undefined) throw new Error('a query that returns the setting or its defaults returned none');
  return row;
};

const SET = { name: 'set_extra_usage', text: 'SELECT set_extra_usage($1, $2, $3)' };

/** Replaces the setting of an account. Takes effect with the next admission. */
const setExtraUsage = async (
  database: Knex,
  userId: string,
  { enabled, monthly_max_micros }: ExtraUsageRequest,
): Promise<void> => {
  await runPrepared(database, SET, [userId, enabled, monthly_max_micros]);
};

/** Binds the routes of extra use. */
export const extraUsageRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(routes.getExtraUsage, async ({ caller }) => ({
    status: 200,
    body: await readExtraUsage(database, caller.userId),
  })),
  bind(routes.changeExtraUsage, async ({ caller, act, body }) => {
    await database.transaction(async (trx) => {
      await setExtraUsage(trx, caller.userId, body);
      await recordAct(trx, act, { type: 'extra_usage', id: null, name: null });
    });
    return { status: 200, body: await readExtraUsage(database, caller.userId) };
  }),
];

const readExtraUsage = async (database: Knex, userId: string): Promise<ExtraUsage> => {
  const { isEnabled, maxMicros, usedMicros, resetsAt } = await findExtraStanding(database, userId);
  return {
    enabled: isEnabled,
    monthly_max_micros: maxMicros,
    used_micros: usedMicros,
    resets_at: resetsAt.toISOString(),
  };
};
