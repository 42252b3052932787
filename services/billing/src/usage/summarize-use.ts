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
