import { type SoftwareAuthenticator, softwareAuthenticator, waitFor } from '@svc/testing';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { connect, newApp, newPerson, PASSWORD, type Person, refresh } from './support/partner.ts';

const NEW_PASSWORD = 'another long enough passphrase';
const DAY_MS = 24 * 3_600_000;

let service: AuthService;
let mailbox: Mailbox;

beforeAll(async () => {
  mailbox = await startMailbox();
  service = await startAuthService({ MAIL_URL: mailbox.url });
});
afterAll(async () => {
  await service?.stop();
  await mailbox?.stop();
});

type CreationOptions = Parameters<SoftwareAuthenticator['create']>[0];
type RequestOptions = Parameters<SoftwareAuthenticator['get']>[0];

const post = (path: string, json: object, token?: string): Promise<Answer> =>
  call(`${service.url}/v1/console${path}`, { json, token });
/** The options of an answer, as the library made them. */
const optionsIn = <T>({ body }: Answer): T => body as T;
const addPasskey = async (token: string): Promise<SoftwareAuthenticator> => {
  const authenticator = softwareAuthenticator(service.url);
  const options = optionsIn<CreationOptions>(await post('/account/factors/passkeys/options', {}, token));
  expect((await post('/account/factors/passkeys', authenticator.create(options), token)).status).toBe(201);
  return authenticator;
};
const signInByPasskey = async (authenticator: SoftwareAuthenticator): Promise<number> => {
  const options = optionsIn<RequestOptions>(await post('/sessions/passkey/options', {}));
  return (await post('/sessions/passkey', authenticator.get(options))).status;
};
const addTotp = async (token: string): Promise<string> => {
  const added = await post('/account/factors/totp', {}, token);
  const secret = textAt(added, 'secret');
  const timestamp = service.clock().getTime();
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
  expect((await post(`/account/factors/totp/${textAt(added, 'id')}/confirm`, { code }, token)).status).toBe(200);
  return secret;
};
const signIn = (email: string, password = PASSWORD): Promise<Answer> => post('/sessions', { email, password });
const resetTokensOf = (email: string): string[] =>
  mailbox
    .mailsTo(email)
    .flatMap(({ links }) => links.map((link) => new URL(link)))
    .filter(({ pathname, search }) => pathname === '/reset-password' && search !== '')
    .map(({ searchParams }) => searchParams.get('token') ?? '');
const askForReset = async (email: string): Promise<string> => {
  const before = resetTokensOf(email).length;
  await post('/password-resets', { email });
  await waitFor(() => resetTokensOf(email).length > before);
  return resetTokensOf(email)[0] ?? '';
};
const reset = async (email: string): Promise<void> => {
  const token = await askForReset(email);
  expect((await post('/password-resets/confirm', { token, password: NEW_PASSWORD })).status).toBe(204);
};
const verify = ({ userId }: Person) =>
  service.database('accounts').where({ id: userId }).update({ email_verified_at: new Date() });
const askForChange = async (person: Person, token: string): Promise<{ email: string; undo: string }> => {
  const email = newEmail();
  expect((await post('/account/email', { current_password: PASSWORD, email }, token)).status).toBe(202);
  return { email, undo: await mailbox.tokenFor(person.email, 'undo-email') };
};
const factorsOf = async ({ userId }: Person): Promise<string[]> => [
  ...(await service.database('totp_factors').where({ user_id: userId }).pluck('id')),
  ...(await service.database('passkeys').where({ user_id: userId }).pluck('id')),
];

/** Signs in with password and passkey. */
const signInWithBoth = async (person: Person, authenticator: SoftwareAuthenticator): Promise<string> => {
  const answer = await signIn(person.email);
  const { detail } = optionsIn<{ detail: { challenge: string; passkey_options: RequestOptions } }>(answer);
  const proof = { challenge: detail.challenge, assertion: authenticator.get(detail.passkey_options) };
  return textAt(await post('/sessions/second-factor', proof), 'session_token');
};

describe('a password reset', () => {
  test('on an address that was never verified removes the factors and identities of a stranger', async () => {
    const stranger = await newPerson(service);
    const passkey = await addPasskey(stranger.token);
    await addTotp(stranger.token);
    const identity = { issuer: 'https://id.example', subject: stranger.userId, user_id: stranger.userId };
    await service.database('sso_identities').insert({ ...identity, linked_at: new Date() });
    await reset(stranger.email);
    expect((await signIn(stranger.email, NEW_PASSWORD)).status).toBe(201);
    expect(await signInByPasskey(passkey)).toBe(401);
    expect(await factorsOf(stranger)).toEqual([]);
    expect(await service.database('recovery_codes').where({ user_id: stranger.userId })).toEqual([]);
    expect(await service.database('sso_identities').where({ user_id: stranger.userId })).toEqual([]);
    expect((await service.database('accounts').where({ id: stranger.userId }).first()).has_second_factor).toBe(false);
  });

  test('on a verified address keeps the factors of the owner', async () => {
    const person = await newPerson(service);
    await verify(person);
    const passkey = await addPasskey(person.token);
    await reset(person.email);
    const answer = await signIn(person.email, NEW_PASSWORD);
    expect([answer.status, textAt(answer, 'detail', 'code')]).toEqual([401, 'second_factor_required']);
    expect(await signInByPasskey(passkey)).toBe(201);
  });

  test('while a change of address waits removes what was added since', async () => {
    const person = await newPerson(service);
    await verify(person);
    const intruder = await addPasskey(person.token);
    await askForChange(person, person.token);
    await reset(person.email);
    expect((await signIn(person.email, NEW_PASSWORD)).status).toBe(201);
    expect(await signInByPasskey(intruder)).toBe(401);
  });
});

describe('undoing a change of address', () => {
  test('removes the passkey of an intruder, and keeps older factors, grants and keys of the owner', async () => {
    const person = await newPerson(service);
    await verify(person);
    const app = await newApp(service, await newPerson(service, 'business'));
    const kept = await connect(service, { app, person });
    const owner = await addPasskey(person.token);
    service.clock.advanceMs(2 * DAY_MS);

    const token = await signInWithBoth(person, owner);
    const intruder = await addPasskey(token);
    const added = await connect(service, { app, person: { ...person, token } });
    const { email } = await askForChange(person, token);
    const confirm = await mailbox.tokenFor(email, 'confirm-email');
    service.clock.advanceMs(20 * 3_600_000);
    expect((await post('/account/email/confirm', { token: confirm })).status).toBe(200);
    const undo = await mailbox.tokenFor(person.email, 'undo-email');
    const since = new Date(service.clock().getTime() - 44 * 3_600_000 - 60_000);
    expect((await post('/account/email/undo', { token: undo })).status).toBe(200);

    expect([await signInByPasskey(intruder), await signInByPasskey(owner)]).toEqual([401, 201]);
    expect((await refresh(service, { app, token: added.refreshToken })).status).toBe(400);
    expect((await refresh(service, { app, token: kept.refreshToken })).status).toBe(200);
    const [fact] = (await service.outbox()).filter(
      ({ subject, payload }) => subject === 'auth.account.access_ended.v1' && payload['svc_user_id'] === person.userId,
    );
    const addedSince = Date.parse(String(fact?.payload['keys_added_since']));
    expect(Math.abs(addedSince - since.getTime())).toBeLessThan(120_000);
    expect(await service.outbox(`revocation:keys.${person.userId}`)).toEqual([]);
  });

  test('of an address that was never verified removes everything of the stranger who signed up with it', async () => {
    const stranger = await newPerson(service);
    const passkey = await addPasskey(stranger.token);
    service.clock.advanceMs(3 * DAY_MS);
    const { email } = await askForChange(stranger, await signInWithBoth(stranger, passkey));
    await post('/account/email/confirm', { token: await mailbox.tokenFor(email, 'confirm-email') });
    const undo = await mailbox.tokenFor(stranger.email, 'undo-email');
    expect((await post('/account/email/undo', { token: undo })).status).toBe(200);
    expect([await signInByPasskey(passkey), await factorsOf(stranger)]).toEqual([401, []]);
    await reset(stranger.email);
    expect((await signIn(stranger.email, NEW_PASSWORD)).status).toBe(201);
  });

  test('is remembered by the next reset, which removes what the intruder added in between', async () => {
    const person = await newPerson(service);
    await verify(person);
    const { undo } = await askForChange(person, person.token);
    await post('/account/email/undo', { token: undo });
    const intruder = await addPasskey(textAt(await signIn(person.email), 'session_token'));
    await reset(person.email);
    expect((await signIn(person.email, NEW_PASSWORD)).status).toBe(201);
    expect(await signInByPasskey(intruder)).toBe(401);

    const again = await addPasskey(textAt(await signIn(person.email, NEW_PASSWORD), 'session_token'));
    await service.database('mails').where({ user_id: person.userId }).delete();
    await reset(person.email);
    expect(await signInByPasskey(again)).toBe(201);
  });
});

describe('requests for a new password by strangers', () => {
  test('do not use up the mails of the owner’s known device', async () => {
    const person = await newPerson(service);
    const device = textAt(await signIn(person.email), 'device_token');
    const ask = (headers: Record<string, string> = {}) =>
      call(`${service.url}/v1/console/password-resets`, { json: { email: person.email }, headers });
    const mailed = async () =>
      (await service.database('mails').where({ user_id: person.userId, kind: 'reset_password' })).length;
    const processed = async () => {
      const waiting = () => service.database('password_reset_requests');
      for (let tries = 0; (await waiting()).length > 0; tries += 1) {
        if (tries > 400) throw new Error('requests are not processed');
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      return await mailed();
    };
    for (let request = 0; request < 7; request += 1) await ask();
    expect(await processed()).toBe(5);
    const answers = [await ask({ 'x-svc-device': device }), await ask({ cookie: `svc_device=${device}` }), await ask()];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([202, 202, 202].map((status) => [status, '']));
    expect(await processed()).toBe(7);
    const stranger = textAt(await signIn((await newPerson(service)).email), 'device_token');
    await ask({ 'x-svc-device': stranger });
    for (let request = 0; request < 7; request += 1) await ask({ 'x-svc-device': device });
    expect(await processed()).toBe(10);
  });
});
