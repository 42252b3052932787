import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import type { DomainRecord } from './publisher-domain.ts';

type Row = SnakeKeys<DomainRecord>;
type Key = Pick<DomainRecord, 'userId' | 'domain'>;

const domains = (executor: Executor) => executor<Row>('publisher_domains');

/** Lists the domains of an account in the order of their addition. */
export const listDomainsOfUser = async (executor: Executor, userId: string): Promise<DomainRecord[]> =>
  (await domains(executor).where({ user_id: userId }).orderBy(['created_at', 'domain'])).map((row) => camelKeys(row));

/** Finds the domain to show for an account: the one verified longest ago. */
export const findVerifiedDomain = async (executor: Executor, userId: string): Promise<string | undefined> => {
  const row = await domains(executor)
    .where({ user_id: userId, status: 'verified' })
    .orderBy(['verified_at', 'domain'])
    .first('domain');
  return row?.domain;
};

/** Returns true if another account has verified the domain. */
export const isVerifiedByOther = async (executor: Executor, { userId, domain }: Key): Promise<boolean> => {
  const row = await domains(executor).where({ domain, status: 'verified' }).whereNot({ user_id: userId }).first();
  return row !== undefined;
};

export const insertDomain = async (trx: Transaction, record: DomainRecord): Promise<void> => {
  await trx('publisher_domains').insert(snakeKeys(record));
};

export const lockDomain = async (trx: Transaction, { userId, domain }: Key): Promise<DomainRecord | undefined> => {
  const row = await domains(trx).where({ user_id: userId, domain }).forUpdate().first();
  return row === undefined ? undefined : camelKeys(row);
};

export const updateDomain = async (trx: Transaction, record: DomainRecord): Promise<void> => {
  await trx('publisher_domains').where({ user_id: record.userId, domain: record.domain }).update(snakeKeys(record));
};

/** Deletes a domain. Returns false if there was none. */
export const deleteDomain = async (executor: Executor, { userId, domain }: Key): Promise<boolean> =>
  (await executor('publisher_domains').where({ user_id: userId, domain }).delete()) > 0;

/** Marks the verified domain with the oldest check as checked now, if that check was before `before`. */
export const claimDueDomain = async (
  executor: Executor,
  { before, now }: { before: Date; now: Date },
): Promise<DomainRecord | undefined> => {
  const { rows }: { rows: Row[] } = await executor.raw(
    `UPDATE publisher_domains SET checked_at = :now WHERE (user_id, domain) = (
       SELECT user_id, domain FROM publisher_domains WHERE status = 'verified' AND checked_at < :before
       ORDER BY checked_at FOR UPDATE SKIP LOCKED LIMIT 1)
     RETURNING *`,
    { before, now },
  );
  const [row] = rows;
  return row === undefined ? undefined : camelKeys(row);
};
