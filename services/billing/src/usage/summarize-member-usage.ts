import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { AuthClient } from '../auth-client.ts';
import { type DayRange, type MemberUse, sumMemberUse } from './member-usage-queries.ts';

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
