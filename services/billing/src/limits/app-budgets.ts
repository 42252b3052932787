import { type AppBudget, type AppTerms, type AppTermsChange, type BudgetLimit, internalRoutes } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';

/** An app's standing with an account. */
export interface AppStanding {
  readonly clientId: string;
  readonly isPaused: boolean;
  readonly limit: {
    readonly micros: number;
    readonly period: BudgetLimit['period'];
    readonly expiresAt: Date | null;
  } | null;
  /** Use in the period of the limit; without a limit, in the current week. */
  readonly usedMicros: number;
  /** Held from the budget for requests whose cost is not final. */
  readonly heldMicros: number;
  readonly resetsAt: Date | null;
}

/** Maps a standing to the budget in the contract; null without a budget. */
const describeBudget = ({ limit, usedMicros, resetsAt }: AppStanding, currency: string): AppBudget | null =>
  limit && {
    limit_micros: limit.micros,
    currency,
    period: limit.period,
    used_micros: usedMicros,
    resets_at: resetsAt?.toISOString() ?? null,
    expires_at: limit.expiresAt?.toISOString() ?? null,
  };

interface AccountApp {
  readonly userId: string;
  readonly clientId: string;
}

const SET_APP_BUDGET = {
  name: 'set_app_budget',
  text: 'SELECT set_app_budget($1, $2, $3, $4, $5, $6, $7)',
};

/** Sets the limit or the pause, whichever is given. Takes effect with the next admission. */
const setAppBudget = async (
  database: Knex,
  { userId, clientId }: AccountApp,
  { budget, paused }: AppTermsChange,
): Promise<void> => {
  await runPrepared(database, SET_APP_BUDGET, [
    userId,
    clientId,
    budget !== undefined,
    budget?.limit_micros ?? null,
    budget?.period ?? null,
    budget?.expires_at ?? null,
    paused ?? null,
  ]);
};

interface StandingRow {
  readonly client_id: string;
  readonly is_paused: boolean;
  readonly limit_micros: number | null;
  readonly period: BudgetLimit['period'] | null;
  readonly expires_at: Date | null;
  readonly used_micros: number;
  readonly held_micros: number;
  readonly resets_at: Date | null;
}

const LIST_STANDINGS = {
  name: 'list_app_standings',
  text: 'SELECT * FROM list_app_standings($1, $2)',
};

/** Returns the standing of one app, even if nothing is set for it. */
export const findAppStanding = async (database: Knex, { userId, clientId }: AccountApp): Promise<AppStanding> => {
  const [row] = await runPrepared<StandingRow>(database, LIST_STANDINGS, [userId, [clientId]]);
  if (row === undefined) throw new Error('a query that returns a row for each app returned none');
  return toStanding(row);
};

/** Lists the apps of an account that have a limit or are paused. */
const listAppStandings = async (database: Knex, userId: string): Promise<AppStanding[]> =>
  (await runPrepared<StandingRow>(database, LIST_STANDINGS, [userId, null])).map(toStanding);

const toStanding = (row: StandingRow): AppStanding => ({
  clientId: row.client_id,
  isPaused: row.is_paused,
  limit:
    row.limit_micros === null || row.period === null
      ? null
      : { micros: row.limit_micros, period: row.period, expiresAt: row.expires_at },
  usedMicros: row.used_micros,
  heldMicros: row.held_micros,
  resetsAt: row.resets_at,
});

interface AppBudgetRoutesDeps {
  readonly database: Knex;
  readonly currency: string;
}

/** Binds the internal routes by which auth reads and sets the terms of apps. */
export const appBudgetRoutes = ({ database, currency }: AppBudgetRoutesDeps): readonly Binding[] => {
  const toTerms = (standing: AppStanding): AppTerms => ({
    paused: standing.isPaused,
    budget: describeBudget(standing, currency),
  });
  return [
    bind(internalRoutes.changeAppTerms, async ({ params, body }) => {
      const app = { userId: params.svc_user_id, clientId: params.client_id };
      await setAppBudget(database, app, body);
      return { status: 200, body: toTerms(await findAppStanding(database, app)) };
    }),
    bind(internalRoutes.listAppTerms, async ({ params }) => {
      const standings = await listAppStandings(database, params.svc_user_id);
      const data = standings.map((standing) => ({ client_id: standing.clientId, ...toTerms(standing) }));
      return { status: 200, body: { data } };
    }),
  ];
};
