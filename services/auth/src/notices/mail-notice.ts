import { type AccountRecord, findAccountById } from '../accounts/index.ts';
import type { Mail, MailOutboxDeps } from '../mail/index.ts';
import { enqueueMail } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';

/** Kind and data of a mail, without its recipient. */
export type MailContent = Pick<Mail, 'kind' | 'data'>;

/** Account to mail, and the mail. `id` identifies the notice where the request for it may be repeated. */
export interface Notice {
  readonly userId: string;
  readonly id?: string;
  readonly write: (account: AccountRecord) => MailContent | Promise<MailContent>;
}

/** Mails a notice to the owner of an account, in their language. Skips erased accounts. */
export const mailNotice = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { userId, id, write }: Notice,
): Promise<void> => {
  const account = await findAccountById(trx, userId);
  if (account === undefined) return;
  // The data match the kind.
  const mail = { ...(await write(account)), userId, to: account.email, locale: account.locale } as Mail;
  await enqueueMail(deps, trx, mail, id === undefined ? {} : { noticeId: id });
};
