import { isAddressHeld } from '../mailed-tokens/index.ts';
import type { Executor } from '../transact.ts';
import { findAccountByEmail } from './queries.ts';

/** Returns true if no other account has this address or may still return to it. */
export const isAddressFree = async (
  executor: Executor,
  email: string,
  { now, userId }: { now: Date; userId: string },
): Promise<boolean> => {
  const holder = await findAccountByEmail(executor, email);
  if (holder !== undefined && holder.account.id !== userId) return false;
  return !(await isAddressHeld(executor, email, { now, exceptUserId: userId }));
};
