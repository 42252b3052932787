import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import type { InvitationRecord } from './invitation.ts';

type Row = SnakeKeys<InvitationRecord>;

const COLUMNS = Object.keys({
  id: true,
  organization_id: true,
  email: true,
  role: true,
  invited_by: true,
  created_at: true,
  expires_at: true,
} satisfies Record<keyof Row, true>);

/** Stores an invitation in place of an earlier one of the same address. */
export const replaceInvitation = async (
  trx: Transaction,
  { digest, ...invitation }: InvitationRecord & { readonly digest: Buffer },
): Promise<void> => {
  const { organizationId, email } = invitation;
  await trx('invitations').where({ organization_id: organizationId, email }).delete();
  await trx('invitations').insert({ ...snakeKeys(invitation), digest });
};

/** Lists the invitations of an organization that wait, newest first. */
export const listInvitationsOfOrganization = async (
  executor: Executor,
  organizationId: string,
  now: Date,
): Promise<InvitationRecord[]> => {
  const rows = await executor('invitations')
    .where({ organization_id: organizationId })
    .where('expires_at', '>', now)
    .orderBy('id', 'desc')
    .select<Row[]>(COLUMNS);
  return rows.map((row) => camelKeys(row));
};

/** Finds the invitation of a link that still works. */
export const findInvitationByDigest = async (
  executor: Executor,
  { digest, now }: { digest: Buffer; now: Date },
): Promise<InvitationRecord | undefined> => {
  const row = await executor('invitations').where({ digest }).where('expires_at', '>', now).first<Row>(COLUMNS);
  return row === undefined ? undefined : camelKeys(row);
};

/** Deletes an invitation that waits, and returns it; undefined if there is none. */
export const takeInvitation = async (
  trx: Transaction,
  { id, organizationId, now }: { id: string; organizationId: string; now: Date },
): Promise<InvitationRecord | undefined> => {
  const waiting = trx('invitations').where({ id, organization_id: organizationId }).where('expires_at', '>', now);
  const [row] = await waiting.delete().returning<Row[]>(COLUMNS);
  return row === undefined ? undefined : camelKeys(row);
};

/** Deletes the invitations of an organization, or those made since a time. */
export const deleteInvitationsOfOrganization = async (
  trx: Transaction,
  organizationId: string,
  since: Date | undefined,
): Promise<void> => {
  const ended = trx('invitations').where({ organization_id: organizationId });
  await (since === undefined ? ended : ended.where('created_at', '>=', since)).delete();
};

/** Deletes at most `limit` invitations that expired before the given time. Returns the number. */
export const deleteInvitationsExpiredBefore = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> => {
  const old = executor('invitations').where('expires_at', '<', before).limit(limit);
  return await executor('invitations').whereIn('id', old.select('id')).delete();
};
