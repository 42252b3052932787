import type { newId } from '@svc/contracts';
import type { Clock } from '@svc/service-kit';
import { seal, unseal } from '../encryption-key.ts';
import { HOUR_MS, later } from '../time.ts';
import type { Transaction } from '../transact.ts';
import { isRequested, type Mail } from './mail.ts';
import { countMailsOf, countMailsTo, insertMail, lockRecipient, type MailRecord } from './queries.ts';

/** Maximum mails of one kind to one address per hour. A person repeats a request; a program repeats an act. */
const REQUESTED_PER_HOUR_MAX = 5;
const NOTICES_PER_HOUR_MAX = 20;
/** Maximum requested mails of one kind for one account per hour, to any address. */
const REQUESTED_OF_USER_PER_HOUR_MAX = 10;

export interface MailOutboxDeps {
  readonly clock: Clock;
  readonly newId: typeof newId;
  /** Encrypts the data of waiting mails, which contain tokens. */
  readonly mailKey: Buffer;
}

/** Outcome of enqueueing. `limited`: the address or account has used up its mails of this kind for this hour. */
export type Enqueued = 'queued' | 'limited';

/**
 * Stores a mail in the caller's transaction. The mailer sends it after the commit. `noticeId` identifies what another
 * service asks to be mailed: a repetition stores nothing.
 */
export const enqueueMail = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  mail: Mail,
  noticeId: string | null = null,
): Promise<Enqueued> => {
  const now = deps.clock();
  await lockRecipient(trx, mail.to);
  const count = await countMailsTo(trx, mail.to, { kinds: [mail.kind], since: later(now, -HOUR_MS) });
  if (count >= (isRequested(mail.kind) ? REQUESTED_PER_HOUR_MAX : NOTICES_PER_HOUR_MAX)) return 'limited';
  if (isRequested(mail.kind) && (await countMailsOf(trx, mail, later(now, -HOUR_MS))) >= REQUESTED_OF_USER_PER_HOUR_MAX)
    return 'limited';
  const id = deps.newId('mail', now.getTime());
  const record = {
    id,
    userId: mail.userId,
    kind: mail.kind,
    recipient: mail.to,
    locale: mail.locale,
    sealedData: seal(deps.mailKey, Buffer.from(JSON.stringify(mail.data)), id),
    createdAt: now,
    dueAt: now,
    attempts: 0,
  };
  await insertMail(trx, record, noticeId);
  return 'queued';
};

/** Decrypts the data of a stored mail. Throws SealBroken. */
export const openMail = (key: Buffer, { id, kind, locale, userId, recipient, sealedData }: MailRecord): Mail => {
  const data: unknown = JSON.parse(unseal(key, sealedData, id).toString());
  // `enqueueMail` sealed data of this kind.
  return { kind, locale, userId, to: recipient, data } as Mail;
};
