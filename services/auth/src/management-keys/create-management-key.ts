import { type ManagementScope, managementScopes, type newId } from '@svc/contracts';
import { recordAct } from '@svc/database';
import {
  type Act,
  AppError,
  digestManagementKey,
  invalidField,
  managementKeyText,
  requireRole,
} from '@svc/service-kit';
import { type AccountRecord, lockAccount } from '../accounts/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { findActingMembership, toActingFor } from '../memberships.ts';
import { holdSession } from '../sessions/index.ts';
import type { Transact, Transaction } from '../transact.ts';
import { insertManagementKey, listManagementKeysOfUser, type ManagementKeyRecord } from './management-key.ts';

/** Limit of keys per account. The list of keys has no pages. */
const KEYS_MAX = 100;

export interface CreateManagementKeyDeps extends MailOutboxDeps {
  readonly transact: Transact;
  readonly newId: typeof newId;
}

export interface NewManagementKey {
  readonly userId: string;
  /** Person who creates the key. */
  readonly createdBy: string;
  readonly sessionId: string;
  readonly name: string;
  readonly scopes: readonly ManagementScope[];
  readonly expiresAt: string | null;
}

/**
 * Creates a key, mails its owner, and returns it with its text, which is shown only once. Throws 422 if the expiry is not
 * in the future or the account has too many keys, and `invalid_token` if the session has lost access.
 */
export const createManagementKey = async (
  deps: CreateManagementKeyDeps,
  { expiresAt: expiry, ...input }: NewManagementKey,
  act: Act,
): Promise<{ key: ManagementKeyRecord; text: string }> => {
  const createdAt = deps.clock();
  const expiresAt = expiry === null ? null : new Date(expiry);
  if (expiresAt !== null && expiresAt <= createdAt) {
    throw invalidField(['body', 'expires_at'], 'value_error', 'Value error, must be in the future');
  }
  const text = managementKeyText.generate();
  const key: ManagementKeyRecord = {
    ...input,
    id: deps.newId('mk', createdAt.getTime()),
    prefix: managementKeyText.shown(text),
    scopes: managementScopes.filter((scope) => input.scopes.includes(scope)),
    createdAt,
    expiresAt,
    lastUsedAt: null,
  };
  await deps.transact(async (trx) => {
    const locked = await lockAccount(trx, key.userId);
    const session = { userId: key.createdBy, sessionId: key.sessionId };
    if (locked === undefined || !(await holdSession(trx, session))) throw new AppError('invalid_token');
    await requireAdmin(trx, { account: locked.account, personId: key.createdBy });
    const { length } = await listManagementKeysOfUser(trx, key.userId);
    if (length >= KEYS_MAX) {
      throw invalidField(['body'], 'value_error', `Value error, an account can have at most ${KEYS_MAX} keys`);
    }
    await insertManagementKey(trx, { ...key, digest: digestManagementKey(text) });
    await recordAct(trx, act, { type: 'management_key', id: key.id, name: key.name });
    const { id: userId, email: to, locale } = locked.account;
    const data = { name: key.name, scopes: key.scopes.join(', ') };
    await enqueueMail(deps, trx, { kind: 'management_key_created', userId, to, locale, data });
  });
  return { key, text };
};

/** Throws unless the person may still manage the organization, if the locked account is one. */
const requireAdmin = async (
  trx: Transaction,
  { account, personId: userId }: { account: AccountRecord; personId: string },
): Promise<void> => {
  if (account.accountType !== 'business') return;
  const acting = await findActingMembership(trx, { organizationId: account.id, userId });
  if (acting === undefined) throw new AppError('invalid_token');
  requireRole(toActingFor(acting), 'admin');
};
