import { findAccountById } from '../accounts/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';
import type { DomainRecord } from './publisher-domain.ts';

/** Mails the owner of a verified domain when its proof is first missing, and when it lapses. */
export const mailMissingProof = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { before, after }: { before: DomainRecord; after: DomainRecord },
): Promise<void> => {
  const hasLapsed = before.status === 'verified' && after.status === 'lapsed';
  const isFirstFailure = before.failingSince === null && after.failingSince !== null;
  if (!hasLapsed && !isFirstFailure) return;
  const owner = await findAccountById(trx, after.userId);
  if (owner === undefined) return;
  const { id: userId, email: to, locale } = owner;
  const data = { domain: after.domain, hasLapsed };
  await enqueueMail(deps, trx, { kind: 'domain_proof_missing', userId, to, locale, data });
};
