import type { Knex } from 'knex';

/** Days of UTC, both included. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Use of a member of an organization: of API keys, and of a seat. */
export interface MemberUse {
  readonly userId: string;
  readonly requests: number;
  readonly paidMicros: number;
  readonly planUsedMicros: number;
}

/** Sums up the use of each member, and of people who were members, in a range of days. */
export const sumMemberUse = async (database: Knex, organizationId: string, range: DayRange): Promise<MemberUse[]> => {
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
