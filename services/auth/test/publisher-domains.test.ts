import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, restartAuthService, startAuthService } from './support/auth-service.ts';
import { type BillingStandIn, startBillingStandIn } from './support/billing-stand-in.ts';
import { type DomainProver, startDomainProver } from './support/domain-prover.ts';
import { type Answer, call, textAt } from './support/http.ts';
import {
  challengeOf,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  type RegisteredApp,
} from './support/partner.ts';

const DAY_MS = 24 * 3_600_000;
const PAUSE_MS = 10_000;

let service: AuthService;
let prover: DomainProver;
let billing: BillingStandIn;

beforeAll(async () => {
  prover = await startDomainProver();
  billing = await startBillingStandIn();
  service = await startAuthService({ BILLING_INTERNAL_URL: billing.url }, undefined, undefined, {
    proveDomain: prover.proveDomain,
  });
});
afterAll(async () => {
  await service?.stop();
  await prover?.stop();
  await billing?.stop();
});

const newDomain = (): string => `acme-${newId('app').slice(-8)}.test`;
const at = (path = '') => `${service.url}/v1/console/publisher/domains${path}`;
const add = ({ token }: Person, domain: string): Promise<Answer> => call(at(), { token, json: { domain } });
const check = ({ token }: Person, domain: string): Promise<Answer> =>
  call(at(`/${domain}/check`), { token, method: 'POST' });
const codeOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
const publish = (answer: Answer): void =>
  prover.dns.answer(textAt(answer, 'txt_name'), { txt: [['v=spf1 -all'], [textAt(answer, 'txt_value')]] });
const unpublish = (domain: string): void => prover.dns.forget(`_svc-verification.${domain}`);
const verified = async (person: Person, domain = newDomain()): Promise<string> => {
  publish(await add(person, domain));
  expect((await check(person, domain)).status).toBe(200);
  return domain;
};
const consentOf = async (app: RegisteredApp, person: Person): Promise<unknown> => {
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    scope: 'inference',
    code_challenge: challengeOf(newVerifier()),
    code_challenge_method: 'S256',
  });
  const answer = await call(`${service.url}/v1/integrations/oauth/consent?${query}`, { token: person.token });
  return JSON.parse(answer.text).app.publisher_domain;
};

describe('a domain', () => {
  test('is proven by its record or file, and the consent page then shows it', async () => {
    const business = await newPerson(service, 'business');
    const app = await newApp(service, business);
    const person = await newPerson(service);
    const domain = newDomain();
    const added = await add(business, domain.toUpperCase());
    expect([added.status, JSON.parse(added.text)]).toEqual([
      201,
      expect.objectContaining({
        domain,
        status: 'pending',
        txt_name: `_svc-verification.${domain}`,
        txt_value: expect.stringMatching(/^svc-verification=[0-9a-f]{32}$/),
        file_url: `https://${domain}/.well-known/svc-verification.txt`,
        verified_at: null,
      }),
    ]);
    expect(textAt(added, 'file_content')).toBe(textAt(added, 'txt_value'));
    const early = await check(business, domain);
    expect(codeOf(early)).toEqual([409, 'domain_not_proven']);
    expect(JSON.parse(early.text).detail).toMatchObject({ dns: 'missing', file: 'unreachable' });
    expect(await consentOf(app, person)).toBeNull();

    publish(added);
    const soon = await check(business, domain);
    expect([...codeOf(soon), Number(soon.headers.get('retry-after')) <= 10]).toEqual([429, 'too_many_attempts', true]);
    service.clock.advanceMs(PAUSE_MS);
    expect(textAt(await check(business, domain), 'status')).toBe('verified');
    expect(await consentOf(app, person)).toBe(domain);

    expect((await call(at(`/${domain}`), { token: business.token, method: 'DELETE' })).status).toBe(204);
    expect(await consentOf(app, person)).toBeNull();
    expect(codeOf(await check(business, domain))).toEqual([404, 'not_found']);
  });

  test('is looked up by its name in ASCII, in lower case and without a trailing dot', async () => {
    const business = await newPerson(service, 'business');
    const parent = newDomain();
    const domain = `xn--bcher-kva.${parent}`;
    const added = await add(business, `BÜCHER.${parent.toUpperCase()}.`);
    expect(textAt(added, 'domain')).toBe(domain);
    publish(added);
    const checked = await check(business, encodeURIComponent(`bücher.${parent}`));
    expect([checked.status, textAt(checked, 'status')]).toEqual([200, 'verified']);
    expect(prover.dns.questions).toContain(`udp TXT _svc-verification.${domain}`);
  });

  test('keeps its token when it is added again, and has another for each account', async () => {
    const first = await newPerson(service, 'business');
    const second = await newPerson(service, 'business');
    const domain = newDomain();
    const values = [first, first, second].map(async (person) => textAt(await add(person, domain), 'txt_value'));
    const [one, again, other] = await Promise.all(values);
    expect(one).toBe(again);
    expect(other).not.toBe(one);
  });

  test('belongs to one account, even if two prove it concurrently', async () => {
    const people = [await newPerson(service, 'business'), await newPerson(service, 'business')];
    const domain = newDomain();
    for (const person of people) await add(person, domain);
    await service.database('publisher_domains').where({ domain }).update({ token: 'same' });
    prover.dns.answer(`_svc-verification.${domain}`, { txt: [['svc-verification=same']] });
    const answers = await Promise.all(people.map((person) => check(person, domain)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(answers.filter(({ status }) => status === 409).map(codeOf)).toEqual([[409, 'domain_taken']]);
    expect(codeOf(await add(await newPerson(service, 'business'), domain))).toEqual([409, 'domain_taken']);
  });

  test('must be a host name of a business, and one of at most five', async () => {
    const business = await newPerson(service, 'business');
    for (let each = 0; each < 5; each += 1) expect((await add(business, newDomain())).status).toBe(201);
    expect(codeOf(await add(business, newDomain()))).toEqual([409, 'domain_limit_reached']);
    expect(codeOf(await add(await newPerson(service), newDomain()))).toEqual([403, 'business_account_required']);
    for (const text of ['127.0.0.1', 'localhost', 'https://acme.test']) {
      const refused = await add(business, text);
      expect([refused.status, textAt(refused, 'detail', 0, 'loc', 1)]).toEqual([422, 'domain']);
    }
    expect(codeOf(await check(await newPerson(service, 'business'), newDomain()))).toEqual([404, 'not_found']);
  });
});

describe('the daily check', () => {
  /** Starts another process: its background work runs at once. */
  const runChecks = async (isDone: () => Promise<boolean>): Promise<void> => {
    const replica = await restartAuthService(service, {}, { proveDomain: prover.proveDomain });
    await waitFor(isDone);
    await replica.stop();
  };
  /** A session outlives no day. */
  const signedIn = async (person: Person): Promise<Person> => {
    const json = { email: person.email, password: PASSWORD };
    return { ...person, token: textAt(await call(`${service.url}/v1/console/sessions`, { json }), 'session_token') };
  };
  const rowOf = (domain: string) => service.database('publisher_domains').where({ domain }).first();
  const checkedSince = (domain: string, since: Date) => async () => (await rowOf(domain)).checked_at >= since;

  test('removes the badge of a domain after seven days without proof, and frees the domain', async () => {
    const business = await newPerson(service, 'business');
    const app = await newApp(service, business);
    const domain = await verified(business);
    unpublish(domain);
    service.clock.advanceMs(DAY_MS + 1_000);
    await runChecks(async () => (await rowOf(domain)).failing_since !== null);
    expect(await consentOf(app, await signedIn(business))).toBe(domain);
    service.clock.advanceMs(7 * DAY_MS);
    await runChecks(async () => (await rowOf(domain)).status === 'lapsed');
    const mails = service.database('mails').where({ user_id: business.userId, kind: 'domain_proof_missing' });
    expect(await mails.pluck('recipient')).toEqual([business.email, business.email]);
    expect(await consentOf(app, await signedIn(business))).toBeNull();
    await verified(await newPerson(service, 'business'), domain);
  });

  test('resets the failures once the proof is back', async () => {
    const domain = await verified(await newPerson(service, 'business'));
    await service.database('publisher_domains').where({ domain }).update({ failing_since: service.clock() });
    service.clock.advanceMs(DAY_MS + 1_000);
    const since = service.clock();
    await runChecks(checkedSince(domain, since));
    await waitFor(async () => (await rowOf(domain)).failing_since === null);
    expect(await rowOf(domain)).toMatchObject({ status: 'verified', failing_since: null });
  });
});

test('erases the domains of an account with it', async () => {
  const business = await newPerson(service, 'business');
  const domain = await verified(business);
  await service.database('accounts').where({ id: business.userId }).delete();
  expect(await service.database('publisher_domains').where({ domain }).first()).toBeUndefined();
});
