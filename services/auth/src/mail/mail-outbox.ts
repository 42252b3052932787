import type { newId } from '@svc/contracts';
import type { Sealer } from '@svc/secrets';
import type { Clock } from '@svc/service-kit';
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
  readonly mailSealer: Sealer;
}

/** Outcome of enqueueing. `limited`: the address or account has used up its mails of this kind for this hour. */
export type Enqueued = 'queued' | 'limited';

export interface EnqueueOptions {
  /** Identifies what another service asks to be mailed: a repetition stores nothing. */
  readonly noticeId?: string;
  /** Device known to the account that asks for the mail. It has a separate budget, which strangers cannot use up. */
  readonly deviceId?: string;
}

/** Stores a mail in the caller's transaction. The mailer sends it after the commit. */
export const enqueueMail = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  mail: Mail,
  { noticeId, deviceId }: EnqueueOptions = {},
): Promise<Enqueued> => {
  const now = deps.clock();
  await lockRecipient(trx, mail.to);
  const budget = { kind: mail.kind, deviceId: deviceId ?? null, since: later(now, -HOUR_MS) };
  const isRequestedMail = isRequested(mail.kind);
  const max = isRequestedMail ? REQUESTED_PER_HOUR_MAX : NOTICES_PER_HOUR_MAX;
  if ((await countMailsTo(trx, mail.to, budget)) >= max) return 'limited';
  if (isRequestedMail && (await countMailsOf(trx, mail.userId, budget)) >= REQUESTED_OF_USER_PER_HOUR_MAX)
    return 'limited';
  const id = deps.newId('mail', now.getTime());
  await insertMail(trx, {
    id,
    userId: mail.userId,
    kind: mail.kind,
    recipient: mail.to,
    locale: mail.locale,
    sealedData: deps.mailSealer.seal(Buffer.from(JSON.stringify(mail.data)), id),
    createdAt: now,
    dueAt: now,
    attempts: 0,
    noticeId: noticeId ?? null,
    deviceId: deviceId ?? null,
  });
  return 'queued';
};

/** Decrypts the data of a stored mail. Throws SealBroken. */
export const openMail = (sealer: Sealer, { id, kind, locale, userId, recipient, sealedData }: MailRecord): Mail => {
  const data: unknown = JSON.parse(sealer.unseal(sealedData, id).toString());
  // `enqueueMail` sealed data of this kind.
  return { kind, locale, userId, to: recipient, data } as Mail;
};
