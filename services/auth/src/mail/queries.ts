import type { Locale } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import type { Executor, Transaction } from '../transact.ts';
import type { MailKind } from './mail.ts';

/** A waiting mail as stored. */
export interface MailRecord {
  readonly id: string;
  readonly userId: string;
  readonly kind: MailKind;
  readonly recipient: string;
  readonly locale: Locale;
  readonly sealedData: Buffer;
  readonly createdAt: Date;
  readonly dueAt: Date;
  readonly attempts: number;
}

/** Mails that count towards one budget. */
export interface MailBudget {
  readonly kind: MailKind;
  /** Known device that asked for them; null for everything else. */
  readonly deviceId: string | null;
  readonly since: Date;
}

/** Serializes mails to one address until the transaction ends, so that none is added between counting and storing. */
export const lockRecipient = async (trx: Transaction, recipient: string): Promise<void> => {
  await trx.raw('SELECT pg_advisory_xact_lock(hashtextextended(?, 0))', [`mail:${recipient}`]);
};

/** Counts the mails of a budget to one address. */
export const countMailsTo = (trx: Transaction, recipient: string, budget: MailBudget): Promise<number> =>
  countMails(trx, { recipient }, budget);

/** Counts the mails of a budget for one user. */
export const countMailsOf = (trx: Transaction, userId: string, budget: MailBudget): Promise<number> =>
  countMails(trx, { user_id: userId }, budget);

const countMails = async (
  trx: Transaction,
  of: { recipient: string } | { user_id: string },
  { kind, deviceId, since }: MailBudget,
): Promise<number> => {
  const row = await trx('mails')
    .where(of)
    .where({ kind, device_id: deviceId })
    .where('created_at', '>', since)
    .count<{ count: string }>({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
};

/** Stores a mail. If it has the id of a notice that is stored already, nothing changes. */
export const insertMail = async (
  trx: Transaction,
  mail: MailRecord & { readonly noticeId: string | null; readonly deviceId: string | null },
): Promise<void> => {
  await trx('mails').insert(snakeKeys(mail)).onConflict('notice_id').ignore();
};

/**
 * Claims due mails, oldest first, and defers them to `retryAt`, so that no other replica sends them meanwhile. Writes
 * only if some are due.
 */
export const claimDueMails = async (
  executor: Executor,
  { now, retryAt, limit }: { now: Date; retryAt: Date; limit: number },
): Promise<MailRecord[]> => {
  const due = executor('mails').where('due_at', '<=', now).orderBy('due_at').limit(limit).forUpdate().skipLocked();
  const waiting = await executor('mails').where('due_at', '<=', now).first('id');
  if (waiting === undefined) return [];
  const rows = await executor<SnakeKeys<MailRecord>>('mails')
    .whereIn('id', due.select('id'))
    .update({ due_at: retryAt, attempts: executor.raw('attempts + 1') })
    .returning(['id', 'user_id', 'kind', 'recipient', 'locale', 'sealed_data', 'created_at', 'due_at', 'attempts']);
  return rows.map((row) => camelKeys(row));
};

/** Marks a mail as sent and deletes its data. */
export const markMailSent = async (executor: Executor, id: string, now: Date): Promise<void> => {
  await executor('mails').where({ id }).update({ sent_at: now, due_at: null, sealed_data: null, error_code: null });
};

/** Defers a mail that could not be sent. */
export const deferMail = async (
  executor: Executor,
  id: string,
  { dueAt, errorCode }: { dueAt: Date; errorCode: string },
): Promise<void> => {
  await executor('mails').where({ id }).update({ due_at: dueAt, error_code: errorCode });
};

/** Marks a mail as failed and deletes its data. */
export const markMailFailed = async (
  executor: Executor,
  id: string,
  { now, errorCode }: { now: Date; errorCode: string },
): Promise<void> => {
  await executor('mails')
    .where({ id })
    .update({ failed_at: now, due_at: null, sealed_data: null, error_code: errorCode });
};

/** Counts waiting mails. */
export const countWaitingMails = async (executor: Executor): Promise<number> => {
  const row = await executor('mails').whereNotNull('due_at').count<{ count: string }>({ count: '*' }).first();
  return Number(row?.count ?? 0);
};

/** Deletes the finished mails to an address, those that other accounts caused included. */
export const deleteMailsTo = async (trx: Transaction, recipient: string): Promise<void> => {
  await trx('mails').where({ recipient }).whereNull('due_at').delete();
};

/** Deletes at most `limit` finished mails created before the given time. Returns the number. */
export const deleteMailsBefore = async (executor: Executor, before: Date, limit: number): Promise<number> => {
  const old = executor('mails').where('created_at', '<', before).whereNull('due_at').limit(limit);
  return await executor('mails').whereIn('id', old.select('id')).delete();
};
