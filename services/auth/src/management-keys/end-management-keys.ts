import type { newId } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { appendToOutbox } from '@svc/messaging';
import { type Act, AppError } from '@svc/service-kit';
import { newSessionId } from '../sessions/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import {
  deleteManagementKeyOfUser,
  deleteManagementKeysOfCreator,
  deleteManagementKeysOfUser,
  updateSessionOfManagementKeys,
} from './management-key.ts';

const revocationOf = (id: string) => ({ revocation: { key: `management_key.${id}` } });

/** Deletes a key of an account. Throws `not_found`. */
export const deleteManagementKey = (
  { transact }: { readonly transact: Transact },
  { userId, id, act }: { readonly userId: string; readonly id: string; readonly act: Act },
): Promise<void> =>
  transact(async (trx) => {
    const name = await deleteManagementKeyOfUser(trx, userId, id);
    if (name === undefined) throw new AppError('not_found');
    await recordAct(trx, act, { type: 'management_key', id, name });
    await appendToOutbox(trx, revocationOf(id));
  });

/** Keys that end with the access to an account. */
interface EndedManagementKeys {
  readonly account: { readonly id: string };
  /** Undefined if all end. */
  readonly since: Date | undefined;
  readonly now: Date;
  /** Newest ended session. */
  readonly revokedThrough: string;
}

/**
 * Ends the keys of a locked account, or those created since a time. The gateway lets no ended session create API keys, so
 * the keys that stay move to a later one.
 */
export const endManagementKeys = async (
  deps: { readonly newId: typeof newId },
  trx: Transaction,
  { account, since, now, revokedThrough }: EndedManagementKeys,
): Promise<void> => {
  const ended = await deleteManagementKeysOfUser(trx, account.id, since);
  await appendToOutbox(trx, ...ended.map(revocationOf));
  if (since === undefined) return;
  await updateSessionOfManagementKeys(trx, account.id, newSessionId(deps, now, revokedThrough));
};

/** Ends the keys that a person has created for an organization, and still knows when no longer allowed to. */
export const endManagementKeysOfCreator = async (
  trx: Transaction,
  membership: { readonly organizationId: string; readonly userId: string },
): Promise<void> => {
  const ended = await deleteManagementKeysOfCreator(trx, membership);
  await appendToOutbox(trx, ...ended.map(revocationOf));
};
