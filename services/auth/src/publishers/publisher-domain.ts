import type { PublisherDomain } from '@svc/contracts';
import { DAY_MS, later } from '../time.ts';

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
