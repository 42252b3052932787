import { type SoftwareAuthenticator, softwareAuthenticator } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { claimsOf, newPerson, PASSWORD, type Person } from './support/partner.ts';

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

type CreationOptions = Parameters<SoftwareAuthenticator['create']>[0];
type RequestOptions = Parameters<SoftwareAuthenticator['get']>[0];

const console = (path: string, { token, ...options }: { token?: string; json?: unknown; method?: string } = {}) =>
  call(`${service.url}/v1/console/${path}`, { token, method: 'POST', ...options });
const errorOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
/** The options of an answer, as the library made them. */
const optionsIn = <T>({ body }: Answer): T => body as T;
const newAuthenticator = () => softwareAuthenticator(service.url);
const createOptions = ({ token }: Person) => console('account/factors/passkeys/options', { token });
const register = ({ token }: Person, json: object) => console('account/factors/passkeys', { token, json });
const signInOptions = async (): Promise<RequestOptions> => optionsIn(await console('sessions/passkey/options'));
const signInWithPasskey = (json: object) => console('sessions/passkey', { json });
const signIn = ({ email }: Person) => console('sessions', { json: { email, password: PASSWORD } });

/** A person with a passkey in this authenticator. */
const newHolder = async (authenticator: SoftwareAuthenticator) => {
  const person = await newPerson(service);
  const created = await register(person, authenticator.create(optionsIn<CreationOptions>(await createOptions(person))));
  if (created.status !== 201) throw new Error(created.text);
  return { ...person, factorId: textAt(created, 'id'), recoveryCode: textAt(created, 'recovery_codes', 0) };
};

describe('registration', () => {
  test('adds a passkey with options for this account, and recovery codes with the first factor only', async () => {
    const person = await newPerson(service);
    const authenticator = newAuthenticator();
    const options = optionsIn<CreationOptions>(await createOptions(person));
    expect(options).toMatchObject({
      rp: { id: 'localhost', name: 'svc' },
      user: { id: Buffer.from(person.userId).toString('base64url'), name: person.email },
      attestation: 'none',
      excludeCredentials: [],
    });
    const created = await register(person, { ...authenticator.create(options), name: 'Laptop' });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ type: 'passkey', name: 'Laptop', last_used_at: null });
    expect(textAt(created, 'recovery_codes', 9)).toMatch(/^.{27}$/);
    const again = optionsIn<CreationOptions>(await createOptions(person));
    expect(again).toMatchObject({ excludeCredentials: [{ id: expect.any(String), transports: ['internal'] }] });
    const second = await register(person, authenticator.create(again));
    expect(second.body).toMatchObject({ name: 'Passkey' });
    expect(second.text).not.toContain('recovery_codes');
    const list = await call(`${service.url}/v1/console/account/factors`, { token: person.token });
    expect(list.body).toMatchObject({ data: [{ name: 'Laptop' }, { name: 'Passkey' }], recovery_codes_left: 10 });
    expect(await service.database('mails').where({ recipient: person.email, kind: 'factor_changed' })).toHaveLength(2);
  });

  test('accepts a page at localhost if the base URL is an IP address', async () => {
    const person = await newPerson(service);
    const authenticator = softwareAuthenticator(service.url.replace('127.0.0.1', 'localhost'));
    const options = optionsIn<CreationOptions>(await createOptions(person));
    expect((await register(person, authenticator.create(options))).status).toBe(201);
  });

  test('WebAuthn Level 3 §7.1: refuses another challenge, origin or relying party, and a second use', async () => {
    const person = await newPerson(service);
    const stranger = await newPerson(service);
    const authenticator = newAuthenticator();
    const options = optionsIn<CreationOptions>(await createOptions(person));
    const ofStranger = optionsIn<CreationOptions>(await createOptions(stranger));
    for (const json of [
      authenticator.create({ ...options, challenge: Buffer.alloc(40).toString('base64url') }),
      authenticator.create({ ...options, challenge: ofStranger.challenge }),
      authenticator.create(options, { origin: 'https://evil.example' }),
      authenticator.create(options, { rpId: 'evil.example' }),
    ]) {
      expect(errorOf(await register(person, json))).toEqual([400, 'passkey_rejected']);
    }
    const registration = authenticator.create(options);
    expect((await register(person, registration)).status).toBe(201);
    expect(errorOf(await register(person, registration))).toEqual([400, 'passkey_rejected']);
    const old = optionsIn<CreationOptions>(await createOptions(person));
    service.clock.advanceMs(600_001);
    expect(errorOf(await register(person, authenticator.create(old)))).toEqual([400, 'passkey_rejected']);
  });

  test('returns 422 for a body that is not a credential', async () => {
    const person = await newPerson(service);
    const answer = await register(person, { id: 'a', rawId: 'a', type: 'public-key', response: {} });
    expect(answer.body).toMatchObject({ detail: [{ loc: ['body', 'response', 'clientDataJSON'] }, {}] });
  });
});

describe('sign-in without a password', () => {
  test('starts a session for the owner of the passkey, once per assertion', async () => {
    const authenticator = newAuthenticator();
    const person = await newHolder(authenticator);
    const options = await signInOptions();
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] });
    const assertion = authenticator.get(options);
    const answer = await signInWithPasskey(assertion);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ account: { svc_user_id: person.userId, has_second_factor: true } });
    expect(answer.headers.getSetCookie()).toHaveLength(4);
    expect(errorOf(await signInWithPasskey(assertion))).toEqual([401, 'invalid_passkey']);
    const parallel = authenticator.get(await signInOptions());
    const answers = await Promise.all(Array.from({ length: 4 }, () => signInWithPasskey(parallel)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401]);
  });

  test('WebAuthn Level 3 §7.2: refuses a wrong challenge, origin, relying party, counter, signature or handle', async () => {
    const authenticator = newAuthenticator();
    const other = newAuthenticator();
    const person = await newHolder(authenticator);
    await newHolder(other);
    expect((await signInWithPasskey(authenticator.get(await signInOptions()))).status).toBe(201);
    const ofStep = optionsIn<{ detail: { passkey_options: RequestOptions } }>(await signIn(person));
    const good = authenticator.get(await signInOptions());
    const foreign = other.get(await signInOptions());
    for (const json of [
      authenticator.get({ challenge: Buffer.alloc(40).toString('base64url'), rpId: 'localhost' }),
      authenticator.get(ofStep.detail.passkey_options),
      authenticator.get(await signInOptions(), { origin: 'https://evil.example' }),
      authenticator.get(await signInOptions(), { rpId: 'evil.example' }),
      authenticator.get(await signInOptions(), { userVerified: false }),
      authenticator.get(await signInOptions(), { counter: 1 }),
      { ...good, response: { ...Object(good['response']), signature: Object(foreign['response']).signature } },
      { ...good, response: { ...Object(good['response']), userHandle: Object(foreign['response']).userHandle } },
      { ...good, id: foreign.id },
    ]) {
      expect(errorOf(await signInWithPasskey(json))).toEqual([401, 'invalid_passkey']);
    }
    expect((await signInWithPasskey(good)).status).toBe(201);
  });

  test('counts failures against the source', async () => {
    const other = await startAuthService();
    const id = Buffer.alloc(16).toString('base64url');
    const response = { clientDataJSON: id, authenticatorData: id, signature: id };
    const json = { id, rawId: id, type: 'public-key', response };
    const send = () => call(`${other.url}/v1/console/sessions/passkey`, { json });
    for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 10 }, send));
    expect(errorOf(await send())).toEqual([429, 'too_many_attempts']);
    await other.stop();
  });
});

describe('as a second factor', () => {
  test('completes a sign-in after the password, also without verifying the person', async () => {
    const authenticator = newAuthenticator();
    const person = await newHolder(authenticator);
    const asked = await signIn(person);
    const { detail } = optionsIn<{ detail: { factors: string[]; passkey_options: RequestOptions } }>(asked);
    expect(detail.factors).toEqual(['passkey']);
    expect(detail.passkey_options.allowCredentials).toHaveLength(1);
    const challenge = textAt(asked, 'detail', 'challenge');
    const wrong = authenticator.get(detail.passkey_options, { origin: 'https://evil.example' });
    const refused = await console('sessions/second-factor', { json: { challenge, assertion: wrong } });
    expect(errorOf(refused)).toEqual([401, 'invalid_second_factor']);
    const assertion = authenticator.get(detail.passkey_options, { userVerified: false });
    expect((await console('sessions/second-factor', { json: { challenge, assertion } })).status).toBe(201);
    const list = await call(`${service.url}/v1/console/account/factors`, { token: person.token });
    expect(list.body).toMatchObject({ data: [{ last_used_at: expect.any(String) }] });
  });

  test('is no longer asked for once it is removed', async () => {
    const authenticator = newAuthenticator();
    const person = await newHolder(authenticator);
    const path = `account/factors/${person.factorId}`;
    expect((await console(path, { token: person.token, method: 'DELETE' })).status).toBe(204);
    expect((await signIn(person)).status).toBe(201);
    expect(errorOf(await signInWithPasskey(authenticator.get(await signInOptions())))).toEqual([
      401,
      'invalid_passkey',
    ]);
  });
});

describe('reauthenticate with an assertion', () => {
  test('renews the authentication with an assertion for that purpose that verifies the person', async () => {
    const authenticator = newAuthenticator();
    const person = await newHolder(authenticator);
    service.clock.advanceMs(901_000);
    const stale = await createOptions(person);
    expect(errorOf(stale)).toEqual([403, 'reauthentication_required']);
    const { token } = person;
    const asked = async () => optionsIn<RequestOptions>(await console('session/reauthenticate/options', { token }));
    const reauthenticate = (assertion: object) => console('session/reauthenticate', { token, json: { assertion } });
    for (const assertion of [
      authenticator.get(await signInOptions()),
      authenticator.get(await asked(), { userVerified: false }),
    ]) {
      expect(errorOf(await reauthenticate(assertion))).toEqual([403, 'wrong_code']);
    }
    const renewed = await reauthenticate(authenticator.get(await asked()));
    expect(renewed.status).toBe(200);
    const fresh = textAt(renewed, 'session_token');
    expect(Number(claimsOf(fresh)['auth_time'])).toBeGreaterThan(Number(claimsOf(token)['auth_time']));
    expect((await createOptions({ ...person, token: fresh })).status).toBe(200);
  });

  test('offers no options for an account without a passkey', async () => {
    const { token } = await newPerson(service);
    const answer = await console('session/reauthenticate/options', { token });
    expect(errorOf(answer)).toEqual([409, 'second_factor_missing']);
  });
});
