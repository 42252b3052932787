import { internalRoutes, type KeySpending, routes } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { grantLeases, type LeaseDeps } from './ask-leases.ts';
import { changeMemberLimit, type MemberLimitDeps, readMemberLimit } from './change-member-limit.ts';

interface SpendingRow {
  readonly available_micros: number | null;
  readonly currency: string | null;
  readonly spent: number[];
}

const READ_KEY_SPENDING = {
  name: 'read_key_spending',
  text: `SELECT w.balance_micros - w.held_micros AS available_micros, w.currency,
      ARRAY(SELECT coalesce((with_current_key_windows(b, c.at)).month_used_micros, 0)::float8
        FROM unnest($2::text[]) WITH ORDINALITY AS t (key_id, place)
        LEFT JOIN key_budgets AS b ON b.key_id = t.key_id AND b.svc_user_id = $1 ORDER BY t.place) AS spent
    FROM (SELECT billing_now() AS at) AS c LEFT JOIN wallets AS w ON w.svc_user_id = $1`,
};

/** Reads the spending of an account's keys this month (UTC), in the given order, and the wallet's available balance. */
const readKeySpending = async (
  { database, currency }: { readonly database: Knex; readonly currency: string },
  userId: string,
  keyIds: readonly string[],
): Promise<KeySpending> => {
  const [row] = await runPrepared<SpendingRow>(database, READ_KEY_SPENDING, [userId, keyIds]);
  if (row === undefined) throw new Error('the query of key spending returned no row');
  return {
    spent_this_month_micros: row.spent,
    wallet: { available_micros: row.available_micros ?? 0, currency: row.currency ?? currency },
  };
};

/** Binds the internal routes of leases and of the spending of keys. */
export const leaseRoutes = (deps: LeaseDeps & { readonly currency: string }): readonly Binding[] => [
  bind(internalRoutes.askLeases, async (context) => {
    const { holder_id, asks } = context.body;
    context.nameRequests(asks.flatMap(({ needs }) => needs.map(({ request_id }) => request_id)));
    return { status: 200, body: { answers: [...(await grantLeases(deps, holder_id, asks))] } };
  }),
  bind(internalRoutes.readKeySpending, async ({ params, body }) => ({
    status: 200,
    body: await readKeySpending(deps, params.svc_user_id, body.key_ids),
  })),
];

/** Binds the routes of the limits of members. */
export const memberLimitRoutes = (deps: MemberLimitDeps): readonly Binding[] => [
  bind(routes.getMemberLimit, async ({ caller, params }) => ({
    status: 200,
    body: {
      monthly_limit_micros: await readMemberLimit(deps, {
        organizationId: caller.userId,
        userId: params.svc_user_id,
      }),
    },
  })),
  bind(routes.changeMemberLimit, async ({ caller, act, params, body }) => ({
    status: 200,
    body: {
      monthly_limit_micros: await changeMemberLimit(
        deps,
        { organizationId: caller.userId, userId: params.svc_user_id, act },
        body.monthly_limit_micros,
      ),
    },
  })),
];
