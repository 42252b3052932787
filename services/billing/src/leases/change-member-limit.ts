import { recordAct } from '@svc/database';
import { type Act, AppError } from '@svc/service-kit';
import type { AuthClient } from '../auth-client.ts';
import { giveBack, type LeaseDeps } from './ask-leases.ts';
import { findMemberLimit, setMemberLimit } from './queries.ts';

export interface MemberLimitDeps extends LeaseDeps {
  readonly auth: Pick<AuthClient, 'findMember'>;
}

/** Reads the monthly limit of a member; null for none. Throws `not_found` for a person who is no member. */
export const readMemberLimit = async (
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
export const changeMemberLimit = async (
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
