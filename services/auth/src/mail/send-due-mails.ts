import type { newId } from '@svc/contracts';
import { SealBroken, type Sealer } from '@svc/secrets';
import { type Clock, type Logger, type Metrics, runPeriodically } from '@svc/service-kit';
import type { FailingItems } from '../failing-items.ts';
import { HOUR_MS, later, MINUTE_MS, SECOND_MS } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { isRequested, type Mail } from './mail.ts';
import type { MailTransport, SendOutcome } from './mail-transport.ts';
import {
  claimDueMails,
  countMailsOf,
  countMailsTo,
  countWaitingMails,
  deferMail,
  insertMail,
  lockRecipient,
  type MailRecord,
  markMailFailed,
  markMailSent,
} from './queries.ts';
import { renderMail } from './render-mail.ts';

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

interface EnqueueOptions {
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

/** Mails per round. They are sent in sequence within the lease. */
const BATCH = 2;
/** Minimum pause after a send with unknown outcome. Longer than sending a batch takes. */
const LEASE_MS = MINUTE_MS;
const BACKOFF_MIN_MS = 5 * SECOND_MS;
const BACKOFF_MAX_MS = HOUR_MS;
const BACKOFF_FACTOR = 4;
/** About ten hours. */
const ATTEMPTS_MAX = 15;

export interface SendMailsDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly mailSealer: Sealer;
  readonly transport: MailTransport;
  readonly publicBaseUrl: string;
  readonly items: FailingItems;
  readonly outcomes: { readonly inc: (labels: { outcome: 'sent' | 'deferred' | 'failed' }) => void };
}

/** Sends due mails in small batches until none is left. */
const sendDueMails = async (deps: SendMailsDeps, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const now = deps.clock();
    const claim = { now, retryAt: later(now, LEASE_MS), limit: BATCH };
    const mails = await deps.transact((trx) => claimDueMails(trx, claim));
    for (const mail of mails) await sendOrDefer(deps, mail);
    if (mails.length < BATCH) return;
  }
};

/** Sends a claimed mail. One that fails here is deferred as if the server had not answered. */
const sendOrDefer = async (deps: SendMailsDeps, mail: MailRecord): Promise<void> => {
  const sent = await deps.items.attempt(async (claimed) => {
    claimed(mail.id);
    await sendOne(deps, mail);
  });
  if (sent === 'failed') await settleFailure(deps, mail, { state: 'unknown', errorCode: 'internal' });
};

const sendOne = async (deps: SendMailsDeps, record: MailRecord): Promise<void> => {
  const outcome = await trySend(deps, record);
  if (outcome.state !== 'sent') return await settleFailure(deps, record, outcome);
  await deps.transact((trx) => markMailSent(trx, record.id, deps.clock()));
  deps.outcomes.inc({ outcome: 'sent' });
};

const trySend = async (deps: SendMailsDeps, record: MailRecord): Promise<SendOutcome> => {
  const mail = tryOpen(deps.mailSealer, record);
  if (mail === undefined) return { state: 'refused', errorCode: 'unreadable' };
  return await deps.transport.send({ ...renderMail(mail, deps.publicBaseUrl), id: record.id, to: record.recipient });
};

/** Decrypts a mail; undefined if it is damaged, so that it can never be sent. */
const tryOpen = (sealer: Sealer, record: MailRecord): Mail | undefined => {
  try {
    return openMail(sealer, record);
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
};

const settleFailure = async (
  deps: SendMailsDeps,
  record: MailRecord,
  { state, errorCode }: Exclude<SendOutcome, { state: 'sent' }>,
): Promise<void> => {
  const now = deps.clock();
  const isLast = state === 'refused' || record.attempts >= ATTEMPTS_MAX;
  deps.logger.warn(
    { component: 'mail', target: record.id, kind: record.kind, attempt: record.attempts, reason: errorCode },
    isLast ? 'a mail was given up' : 'a mail was not sent and will be tried again',
  );
  if (isLast) await deps.transact((trx) => markMailFailed(trx, record.id, { now, errorCode }));
  else {
    const dueAt = later(now, retryDelayMs(state, record.attempts));
    await deps.transact((trx) => deferMail(trx, record.id, { dueAt, errorCode }));
  }
  deps.outcomes.inc({ outcome: isLast ? 'failed' : 'deferred' });
};

/** Returns the delay before the next attempt: at least a minute for a mail that may have been sent. */
const retryDelayMs = (state: SendOutcome['state'], attempts: number): number => {
  const backoffMs = Math.min(BACKOFF_MIN_MS * BACKOFF_FACTOR ** (attempts - 1), BACKOFF_MAX_MS);
  return state === 'unknown' ? Math.max(backoffMs, LEASE_MS) : backoffMs;
};

const INTERVAL_MS = 500;
const OUTCOMES = ['sent', 'deferred', 'failed'] as const;

interface MailerDeps extends Omit<SendMailsDeps, 'outcomes'> {
  readonly database: Executor;
  readonly metrics: Metrics;
}

/** Sends waiting mails until stopped. Replicas share the work. */
export const startMailer = (deps: MailerDeps): { stop: () => Promise<void> } => {
  const outcomes = deps.metrics.counter({
    name: 'auth_mails_total',
    help: 'Attempts to send a mail, by outcome.',
    labelNames: ['outcome'],
  });
  // Prometheus sees a counter grow only if it has been 0 before.
  for (const outcome of OUTCOMES) outcomes.inc({ outcome }, 0);
  deps.metrics.gauge({
    name: 'auth_mails_waiting',
    help: 'Mails that the mail server has not taken yet.',
    // A scrape must not fail with the database.
    read: () => countWaitingMails(deps.database).catch(() => Number.NaN),
  });
  const stopping = new AbortController();
  const work = runPeriodically({
    name: 'mail',
    intervalMs: INTERVAL_MS,
    run: () => sendDueMails({ ...deps, outcomes }, stopping.signal),
    logger: deps.logger,
  });
  return {
    stop: async () => {
      stopping.abort();
      await work.stop();
      deps.transport.close();
    },
  };
};
