import { domainToASCII } from 'node:url';
import type { PublisherDomain } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { DAY_MS, later } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';

/** A domain of a business as stored. */
export interface DomainRecord {
  readonly userId: string;
  readonly domain: string;
  /** Public random text that binds a proof to this account. */
  readonly token: string;
  readonly status: PublisherDomain['status'];
  readonly createdAt: Date;
  readonly verifiedAt: Date | null;
  readonly checkedAt: Date | null;
  readonly failingSince: Date | null;
}

/** Time for which the proof of a verified domain may be missing. */
const LAPSE_MS = 7 * DAY_MS;

const TXT_LABEL = '_svc-verification';
const FILE_PATH = '/.well-known/svc-verification.txt';

/** Returns the text that proves a domain in either place. */
export const proofText = (token: string): string => `svc-verification=${token}`;

export const txtNameOf = (domain: string): string => `${TXT_LABEL}.${domain}`;

export const fileUrlOf = (domain: string): string => `https://${domain}${FILE_PATH}`;

export const toDomainJson = (record: DomainRecord): PublisherDomain => ({
  domain: record.domain,
  status: record.status,
  txt_name: txtNameOf(record.domain),
  txt_value: proofText(record.token),
  file_url: fileUrlOf(record.domain),
  file_content: proofText(record.token),
  created_at: record.createdAt.toISOString(),
  verified_at: record.verifiedAt?.toISOString() ?? null,
  checked_at: record.checkedAt?.toISOString() ?? null,
  failing_since: record.failingSince?.toISOString() ?? null,
});

/** Returns the domain after a check. A verified one lapses when its checks have failed for seven days. */
export const afterCheck = (record: DomainRecord, { isProven, now }: { isProven: boolean; now: Date }): DomainRecord => {
  if (isProven) {
    const verifiedAt = record.status === 'verified' ? record.verifiedAt : now;
    return { ...record, status: 'verified', verifiedAt, failingSince: null };
  }
  if (record.status !== 'verified') return record;
  const failingSince = record.failingSince ?? now;
  return later(failingSince, LAPSE_MS) <= now
    ? { ...record, status: 'lapsed', failingSince: null }
    : { ...record, failingSince };
};

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

/** A host name has at most 253 characters (RFC 1035 section 2.3.4), and the TXT record adds a label. */
const DOMAIN_CHARACTERS_MAX = 235;
/** Characters that end or change the host of a URL. */
const NOT_IN_HOST = /[\s/\\:?#@%[\]]/;
/** At least two labels of letters, digits and hyphens. The last starts with a letter, so it is no IPv4 address. */
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns a host name in ASCII (punycode) and lower case, without a trailing dot; undefined for other text. Accepts
 * public suffixes of several labels: only their owners can prove them.
 */
export const normalizeDomain = (text: string): string | undefined => {
  if (NOT_IN_HOST.test(text)) return undefined;
  const domain = domainToASCII(text).replace(/\.$/, '');
  return domain.length <= DOMAIN_CHARACTERS_MAX && HOST_NAME.test(domain) ? domain : undefined;
};
