import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';

/** Days of UTC, both included. */
interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Use of a member of an organization: of API keys, and of a seat. */
interface MemberUse {
  readonly userId: string;
  readonly requests: number;
  readonly paidMicros: number;
  readonly planUsedMicros: number;
}

/** Sums up the use of each member, and of people who were members, in a range of days. */
const sumMemberUse = async (database: Knex, organizationId: string, range: DayRange): Promise<MemberUse[]> => {
  const { rows } = await database.raw<{ rows: MemberUse[] }>(
    `SELECT coalesce(k.member_id, s.svc_user_id) AS "userId", coalesce(k.requests, 0)::int AS requests,
        coalesce(k.paid, 0)::float8 AS "paidMicros", coalesce(s.cost, 0)::float8 AS "planUsedMicros"
      FROM (SELECT member_id, sum(requests) AS requests, sum(paid_micros) AS paid FROM member_usage_days
        WHERE svc_user_id = :organizationId AND day BETWEEN :from::date AND :to::date GROUP BY member_id) AS k
      FULL JOIN (SELECT svc_user_id, sum(cost_micros) AS cost FROM seat_usage_days
        WHERE organization_id = :organizationId AND day BETWEEN :from::date AND :to::date GROUP BY svc_user_id) AS s
        ON s.svc_user_id = k.member_id`,
    { organizationId, ...range },
  );
  return rows;
};

export interface MemberUsageDeps {
  readonly database: Knex;
  readonly auth: Pick<AuthClient, 'listMembers' | 'nameAccounts'>;
}

/** Use of a member, as the console shows it. */
interface MemberUsage {
  readonly svc_user_id: string;
  readonly name: string | null;
  readonly requests: number;
  readonly cost_micros: number;
  readonly plan_used_micros: number;
}

const DAYS_MAX = 366;
const DAY_MS = 86_400_000;
const NOTHING: Omit<MemberUse, 'userId'> = { requests: 0, paidMicros: 0, planUsedMicros: 0 };

/**
 * Sums up usage and money of an organization by member, the most expensive first. Lists people who have left if they used
 * anything in the range. Throws 422 for a range that ends before it begins, or that is too long.
 */
export const summarizeMemberUsage = async (
  { database, auth }: MemberUsageDeps,
  organizationId: string,
  range: DayRange,
): Promise<{ data: MemberUsage[] }> => {
  checkRange(range);
  const [members, uses] = await Promise.all([
    auth.listMembers(organizationId),
    sumMemberUse(database, organizationId, range),
  ]);
  const names = new Map<string, string>(members.map(({ svc_user_id, name }) => [svc_user_id, name]));
  const left = uses.filter(({ userId }) => !names.has(userId)).map(({ userId }) => userId);
  for (const [userId, name] of await auth.nameAccounts(left)) names.set(userId, name);
  const used = new Set(uses.map(({ userId }) => userId));
  const idle = members.filter(({ svc_user_id }) => !used.has(svc_user_id));
  const all = [...uses, ...idle.map(({ svc_user_id: userId }) => ({ userId, ...NOTHING }))];
  const data = all.map(({ userId, requests, paidMicros, planUsedMicros }) => ({
    svc_user_id: userId,
    name: names.get(userId) ?? null,
    requests,
    cost_micros: paidMicros,
    plan_used_micros: planUsedMicros,
  }));
  return {
    data: data.sort((a, b) => b.cost_micros - a.cost_micros || b.plan_used_micros - a.plan_used_micros),
  };
};

const checkRange = ({ from, to }: DayRange): void => {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days >= 1 && days <= DAYS_MAX) return;
  const message = `Value error, must be from the first day to ${DAYS_MAX - 1} days later`;
  throw invalidField(['query', 'to'], 'value_error', message);
};
