import type { events } from '@svc/contracts';
import type { z } from 'zod';
import { findAccountById } from '../accounts/index.ts';
import { formatInstant } from '../formats.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';

/** Mails the owner of a new API key. An erased account gets none. */
export const mailCreatedKey = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  fact: z.output<typeof events.keyCreated.schema>,
): Promise<void> => {
  const account = await findAccountById(trx, fact.svc_user_id);
  if (account === undefined) return;
  const { id: userId, email: to, locale } = account;
  const data = { keyId: fact.key_id, at: formatInstant(new Date(fact.created_at), locale) };
  await enqueueMail(deps, trx, { kind: 'api_key_created', userId, to, locale, data });
};
