import { type AccountRecord, findAccountById } from '../accounts/index.ts';
import type { Mail, MailOutboxDeps } from '../mail/index.ts';
import { enqueueMail } from '../mail/index.ts';
import type { Transaction } from '../transact.ts';

/** Kind and data of a mail, without its recipient. */
export type MailContent = Pick<Mail, 'kind' | 'data'>;

/** Mails a notice to the owner of an account, in their language. An erased account gets none. */
export const mailNotice = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  {
    userId,
    write,
  }: { readonly userId: string; readonly write: (account: AccountRecord) => MailContent | Promise<MailContent> },
): Promise<void> => {
  const account = await findAccountById(trx, userId);
  if (account === undefined) return;
  // The data are those of the kind.
  const mail = { ...(await write(account)), userId, to: account.email, locale: account.locale } as Mail;
  await enqueueMail(deps, trx, mail);
};
