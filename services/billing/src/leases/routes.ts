import { internalRoutes, type KeySpending, routes } from '@svc/contracts';
import { recordAct, runPrepared } from '@svc/database';
import { type Act, AppError, type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';
import { giveBack, grantLeases, type LeaseDeps } from './ask-leases.ts';
import { findMemberLimit, setMemberLimit } from './queries.ts';

interface MemberLimitDeps extends LeaseDeps {
  readonly auth: Pick<AuthClient, 'findMember'>;
}

/** Reads the monthly limit of a member; null for none. Throws `not_found` for a person who is no member. */
const readMemberLimit = async (
  { auth, database }: Pick<MemberLimitDeps, 'auth' | 'database'>,
  member: { readonly organizationId: string; readonly userId: string },
): Promise<number | null> => {
  if ((await auth.findMember(member.organizationId, member.userId)) === undefined) throw new AppError('not_found');
  return await findMemberLimit(database, member);
};

/**
 * Limits what all API keys of a member together may spend in a month; null for no limit. The limit holds when the call
 * returns: what gateways hold unspent for these keys is recalled. Throws `not_found` for a person who is no member.
 */
const changeMemberLimit = async (
  deps: MemberLimitDeps,
  { organizationId, userId, act }: { readonly organizationId: string; readonly userId: string; readonly act: Act },
  limitMicros: number | null,
): Promise<number | null> => {
  const member = await deps.auth.findMember(organizationId, userId);
  if (member === undefined) throw new AppError('not_found');
  const leaseIds = await deps.database.transaction(async (trx) => {
    const held = await setMemberLimit(trx, { organizationId, userId }, limitMicros);
    await recordAct(trx, act, { type: 'member', id: userId, name: member.name });
    return held;
  });
  await giveBack(deps, leaseIds);
  return limitMicros;
};

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
