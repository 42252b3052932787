import { events, newId } from '@svc/contracts';
import { connectMessaging, type Messaging } from '@svc/messaging';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { createLogger } from '@svc/service-kit';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startKeyNoticeConsumer, startNoticeConsumer } from '../src/notices.ts';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { connect, newApp, newPerson, PASSWORD, type Person } from './support/partner.ts';

let service: AuthService;
let nats: TestNats;
let mailbox: Mailbox;
let messaging: Messaging;
let operator: Messaging;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [nats, mailbox] = await Promise.all([testNats(), startMailbox()]);
  service = await startAuthService({ MAIL_URL: mailbox.url });
  const logger = createLogger({ service: 'auth', level: 'silent' });
  messaging = await connectMessaging({ url: nats.urlOf('auth'), name: 'auth', logger });
  operator = await connectMessaging({ url: nats.url, name: 'operator', logger });
  const findKeyName = async ({ keyId }: { keyId: string }) => `Key ${keyId.slice(-4)}`;
  const deps = { ...service.application.notices, messaging, findKeyName };
  for (const consumer of [startNoticeConsumer(deps), startKeyNoticeConsumer(deps)]) stops.push(() => consumer.stop());
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await Promise.all([messaging?.close(), operator?.close()]);
  await service?.stop();
  await Promise.all([nats?.stop(), mailbox?.stop()]);
});

/** Publishes a fact without a message id, so that the broker does not drop repetitions before the consumer sees them. */
const publish = async (subject: string, data: object, id: string = crypto.randomUUID()) => {
  const occurred_at = '2026-10-01T12:00:00.000Z';
  const envelope = { id, subject, aggregate: `alert:${id}`, version: 1, occurred_at, data };
  await operator.jetstream.publish(subject, JSON.stringify(envelope));
};
const alert = (userId: string, more: object) => ({
  svc_user_id: userId,
  client_id: null,
  key_id: null,
  plan_name: null,
  threshold_percent: 80,
  amount_micros: 1_612_345,
  limit_micros: 2_000_000,
  resets_at: '2026-10-05T08:00:00.000Z',
  currency: null,
  ...more,
});
const emailOf = async (userId: string): Promise<string> =>
  (await service.database('accounts').where({ id: userId }).first('email')).email;
/** Waits for this many mails beside that of the sign-up, and returns them, the oldest first. */
const mailsTo = async (userId: string, count: number) => {
  const email = await emailOf(userId);
  const notices = () => mailbox.mailsTo(email).filter(({ text }) => !text.includes('/verify-email?'));
  await waitFor(() => notices().length >= count);
  return notices().toReversed();
};

test('mails every kind of alert once, in the language of the account, however often its fact arrives', async () => {
  const { subject } = events.alertRaised;
  const reader = await newPerson(service);
  const owner = await newPerson(service, 'business');
  await service.database('accounts').where({ id: reader.userId }).update({ locale: 'en' });
  const { clientId } = await newApp(service, owner, { name: 'Notes' });
  const keyId = newId('key');
  const facts = [
    alert(reader.userId, { subject: 'weekly_cap', plan_name: 'Plus' }),
    alert(reader.userId, { subject: 'extra_use', threshold_percent: 100 }),
    alert(reader.userId, { subject: 'app_budget', client_id: clientId, resets_at: null }),
    alert(reader.userId, { subject: 'api_key', key_id: keyId, threshold_percent: 100 }),
    alert(reader.userId, { subject: 'wallet', threshold_percent: null, resets_at: null }),
  ];
  for (const fact of facts) {
    const id = crypto.randomUUID();
    for (let time = 0; time < 2; time += 1) await publish(subject, fact, id);
  }
  const italian = await newPerson(service);
  await service.database('accounts').where({ id: italian.userId }).update({ locale: 'it' });
  await publish(subject, alert(newId('usr'), { subject: 'weekly_cap' }));
  await publish(subject, alert(italian.userId, { subject: 'monthly_cap', plan_name: 'Plus' }));

  const mails = await mailsTo(reader.userId, facts.length);
  expect(mails.map((mail) => mail.subject).toSorted()).toEqual([
    '80% of the weekly limit of your Plus plan is used',
    'Extra use: 100% of this month’s amount is spent',
    'Notes has used 80% of its budget',
    `The API key Key ${keyId.slice(-4)} has used 100% of its monthly limit`,
    'Your wallet is below €2.00',
  ]);
  const texts = mails.map(({ text }) => text).join('\n');
  for (const part of ['€1.61 of €2.00', 'October 5, 2026', 'does not reset']) expect(texts).toContain(part);
  for (const id of [keyId, clientId]) expect(texts).not.toContain(id);
  const [mail] = await mailsTo(italian.userId, 1);
  expect(mail?.subject).toBe('Hai usato l’80% del limite mensile del piano Plus');
  expect(mail?.text).toContain('5 ottobre 2026');
  expect(await service.database('dead_letters')).toEqual([]);
});

test('mails a purchase, a failed payment, a cancellation and the end of a plan, each with a link to the plan', async () => {
  const person = await newPerson(service);
  await service.database('accounts').where({ id: person.userId }).update({ locale: 'en' });
  for (const kind of ['purchased', 'payment_failed', 'cancelled', 'ended']) {
    await publish(events.planNoticeRaised.subject, {
      svc_user_id: person.userId,
      kind,
      plan: { id: 'starter', name: 'Starter' },
      at: '2026-10-08T08:00:00.000Z',
      is_unpaid: kind === 'ended',
    });
  }
  const mails = await mailsTo(person.userId, 4);
  expect(mails.map((mail) => mail.subject).toSorted()).toEqual([
    'The payment for Starter failed',
    'You are on Starter',
    'Your plan Starter ends on October 8, 2026',
    'Your plan Starter has ended',
  ]);
  for (const { text, html } of mails) {
    expect(text).toMatch(/8 October 2026|October 8, 2026/);
    expect(html).toContain(`href="${service.url}/plans"`);
  }
});

test('mails the owner of a new API key once, however often its fact arrives', async () => {
  const person = await newPerson(service);
  const { subject } = events.keyCreated;
  const keyId = newId('key');
  const id = crypto.randomUUID();
  const named = { key_id: keyId, name: 'Production', prefix: 'svc_sk_4Tq' };
  const fact = { svc_user_id: person.userId, ...named, created_at: '2026-10-01T12:00:00.000Z' };
  for (let time = 0; time < 2; time += 1) await publish(subject, fact, id);
  await publish(subject, { ...fact, svc_user_id: newId('usr') });
  const next = await newPerson(service);
  await publish(subject, { ...fact, svc_user_id: next.userId });
  await mailsTo(next.userId, 1);
  const mails = await mailsTo(person.userId, 1);
  expect(mails.map((mail) => mail.subject)).toEqual(['Una nuova chiave API: Production']);
  expect(mails[0]?.text).toContain('“Production” (svc_sk_4Tq…) è stata creata per il tuo account il 1 ottobre 2026');
  expect(mails[0]?.text).not.toContain(keyId);
});

const noticesOf = (person: Person): Promise<string[]> =>
  service
    .database('mails')
    .where({ user_id: person.userId })
    .whereNot({ kind: 'verify_email' })
    .orderBy('id')
    .pluck('kind');
const signIn = (person: Person, headers: Record<string, string> = {}) =>
  call(`${service.url}/v1/console/sessions`, { json: { email: person.email, password: PASSWORD }, headers });

test('mails a sign-in from a new device, but neither the first sign-in nor one from a known device', async () => {
  const person = await newPerson(service);
  expect(await noticesOf(person)).toEqual([]);
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
  const device = textAt(await signIn(person, headers), 'device_token');
  await signIn(person, { 'x-svc-device': device });
  expect(await noticesOf(person)).toEqual(['new_device']);
  const [mail] = await mailsTo(person.userId, 1);
  expect(mail?.text).toContain('Firefox, Linux, rete 127.0.0.0/24');
});

test('mails a changed password once, although the session that follows is new', async () => {
  const person = await newPerson(service);
  await call(`${service.url}/v1/console/account/password`, {
    token: person.token,
    json: { current_password: PASSWORD, new_password: 'another long enough passphrase' },
  });
  expect(await noticesOf(person)).toEqual(['password_changed']);
});

test('mails a newly connected app, but no repeated consent', async () => {
  const person = await newPerson(service);
  const app = await newApp(service, await newPerson(service, 'business'), { name: 'Notes' });
  await connect(service, { app, person });
  await connect(service, { app, person });
  expect(await noticesOf(person)).toEqual(['app_connected']);
  const disconnect = { method: 'DELETE', token: person.token };
  await call(`${service.url}/v1/integrations/connections/${app.clientId}`, disconnect);
  await connect(service, { app, person });
  expect(await noticesOf(person)).toEqual(['app_connected', 'app_connected']);
});

test('mails that an automatic top-up failed, and why', async () => {
  const { userId } = await newPerson(service);
  await service.database('accounts').where({ id: userId }).update({ locale: 'en' });
  const failure = { svc_user_id: userId, amount_micros: 20_000_000, currency: 'EUR', reason: 'declined' };
  await publish(events.autoTopUpFailed.subject, failure);
  const [mail] = await mailsTo(userId, 1);
  expect(mail?.subject).toBe('The automatic top-up of your wallet failed');
  expect(mail?.text).toContain('The automatic top-up of €20.00 failed. Your payment method was declined.');
});

test('mails the owner of a webhook that it is blocked, is paused, and has recovered, each once', async () => {
  const owner = await newPerson(service, 'business');
  await service.database('accounts').where({ id: owner.userId }).update({ locale: 'en' });
  const { clientId } = await newApp(service, owner, { name: 'Notes' });
  const eventId = newId('evt');
  const notice = { event_id: eventId, event: 'integration.test', last_attempt_at: '2026-10-01T12:00:00.000Z' };
  const notify = (change: string, id = clientId) =>
    call(`${service.internalUrl}/internal/webhook-owners/${id}/notices`, {
      token: internalCredential('webhook-dispatcher'),
      json: { ...notice, change },
    });
  for (const change of ['blocked', 'blocked', 'paused', 'recovered', 'recovered'])
    expect((await notify(change)).status).toBe(204);
  expect((await notify('blocked', newId('app'))).status).toBe(404);
  expect((await notify('blocked', owner.userId)).status).toBe(204);
  const mails = await mailsTo(owner.userId, 4);
  expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
    'The webhook of Notes is blocked',
    'The webhook of Notes is paused',
    'The webhook of Notes works again',
    'The webhook of your account is blocked',
  ]);
  expect(new Set(mails.flatMap(({ links }) => links))).toEqual(
    new Set([`${service.url}/apps/${clientId}/webhook`, `${service.url}/account/webhook`]),
  );
  const texts = mails.map(({ text }) => text).join('\n');
  expect(texts).toContain(`${eventId} (integration.test)`);
  expect(texts).toContain('October 1, 2026');
});
