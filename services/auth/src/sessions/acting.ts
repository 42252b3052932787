import type { AccountRecord } from '../accounts/index.ts';
import { type ActingMembership, findActingMembership } from '../memberships.ts';
import type { Executor } from '../transact.ts';
import type { SessionRecord } from './session.ts';

/**
 * Finds the organization that the person of a session acts for, with the present role; null for a personal account that
 * acts for itself. Returns undefined if the person is no longer a member.
 */
export const findActing = async (
  executor: Executor,
  { organizationId }: Pick<SessionRecord, 'organizationId'>,
  { id: userId, accountType }: Pick<AccountRecord, 'id' | 'accountType'>,
): Promise<ActingMembership | null | undefined> => {
  const acting = organizationId ?? (accountType === 'business' ? userId : null);
  return acting === null ? null : await findActingMembership(executor, { organizationId: acting, userId });
};
