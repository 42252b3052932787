import { type ExtraUsage, routes } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { findExtraStanding, setExtraUsage } from './queries.ts';

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
