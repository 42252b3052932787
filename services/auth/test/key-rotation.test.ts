import { type RequestListener, request } from 'node:http';
import { secretOperations } from '@svc/contracts';
import { camelKeys, type SnakeKeys } from '@svc/database';
import { openSecretKeys } from '@svc/secrets';
import { listen } from '@svc/service-kit';
import { freePort } from '@svc/testing';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MailRecord } from '../src/mail/queries.ts';
import { openMail } from '../src/mail/send-due-mails.ts';
import { openSecrets } from '../src/slice-deps.ts';
import { type AuthService, restartAuthService, startAuthService, startReplica } from './support/auth-service.ts';
import { newBrowser } from './support/browser.ts';
import { call, textAt } from './support/http.ts';
import { openOperator } from './support/operator.ts';
import { challengeOf, newApp, newPerson, newVerifier, PASSWORD, redeem, STATE } from './support/partner.ts';

const OLD = '11'.repeat(32);
const NEW = Buffer.alloc(32, 2).toString('base64');
/** The steps of the guide, each of which restarts the replicas one after the other. */
const STEPS = [`old:${OLD},new:${NEW}`, `new:${NEW},old:${OLD}`, `new:${NEW}`] as const;
const STEP_MS = 30_000;

let service: AuthService;
/** The public address, behind which replicas come and go. */
let front: AuthService;
let target: string;
let stopEntrance: () => Promise<void>;

beforeAll(async () => {
  const forward: RequestListener = (req, res) => {
    const { method = 'GET', headers } = req;
    const forwarded = request(`${target}${req.url}`, { method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    forwarded.on('error', () => res.destroy());
    req.pipe(forwarded);
  };
  const entrance = await listen(forward, { port: await freePort(), host: '127.0.0.1' });
  service = await startAuthService({ PUBLIC_BASE_URL: entrance.url, AUTH_ENCRYPTION_KEY: OLD });
  target = service.url;
  front = { ...service, url: entrance.url };
  stopEntrance = async () => void (await entrance.drain(1_000));
});
afterAll(async () => {
  await stopEntrance?.();
  await service?.stop();
});

/** Adds a second factor and returns a sign-in with it. */
const newEnrolled = async () => {
  const person = await newPerson(front);
  const factors = `${front.url}/v1/console/account/factors/totp`;
  const added = await call(factors, { token: person.token, json: {} });
  const totp = new TOTP({ secret: Secret.fromBase32(textAt(added, 'secret')) });
  const nextCode = (): string => {
    // Each code is good once.
    service.clock.advanceMs(STEP_MS);
    return totp.generate({ timestamp: service.clock().getTime() });
  };
  const confirmed = await call(`${factors}/${textAt(added, 'id')}/confirm`, {
    token: person.token,
    json: { code: nextCode() },
  });
  expect(confirmed.status).toBe(200);
  const signIn = async (): Promise<number> => {
    const asked = await call(`${front.url}/v1/console/sessions`, {
      json: { email: person.email, password: PASSWORD },
    });
    const challenge = textAt(asked, 'detail', 'challenge');
    const proof = { challenge, code: nextCode() };
    return (await call(`${front.url}/v1/console/sessions/second-factor`, { json: proof })).status;
  };
  return { ...person, signIn };
};

test('rotating AUTH_ENCRYPTION_KEY under traffic loses no factor, session, token, form or mail', async () => {
  const owner = await newPerson(front, 'business');
  const app = await newApp(front, owner);
  const people = [await newEnrolled()];
  const visitor = await newPerson(front);
  const openForm = async () => {
    const browser = newBrowser(front);
    const verifier = newVerifier();
    const parameters = new URLSearchParams({
      client_id: app.clientId,
      redirect_uri: app.redirectUri,
      code_challenge: challengeOf(verifier),
      state: STATE,
    });
    const page = await browser.open(`/v1/integrations/oauth/authorize?${parameters}`);
    const consent = await browser.submit(page, 'sign-in', { email: visitor.email, password: PASSWORD });
    return { browser, verifier, consent };
  };
  const denied = await openForm();
  await denied.browser.submit(denied.consent, 'decision', { decision: 'deny' });
  let replicas: Awaited<ReturnType<typeof startReplica>>[] = [];
  for (const [index, keys] of STEPS.entries()) {
    const open = await openForm();
    const next = await startReplica(service, { environment: { AUTH_ENCRYPTION_KEY: keys } });
    replicas.push(next);
    // While they are replaced, callers reach the old ones and the new one.
    const others = replicas.slice(0, -1).map(({ url }) => url);
    for (const url of index === 0 ? [next.url, service.url] : [next.url, ...others, next.url]) {
      target = url;
      people.push(await newEnrolled());
    }
    for (const person of people) {
      for (const url of index === 0 ? [next.url, service.url] : [...others, next.url]) {
        target = url;
        expect(await person.signIn()).toBe(201);
        expect((await call(`${front.url}/v1/console/session`, { token: person.token })).status).toBe(200);
      }
    }
    target = next.url;
    const answers = [];
    for (const url of [next.url, others.at(-1) ?? service.url]) {
      target = url;
      answers.push(await open.browser.submitOnce(open.consent, 'decision', { decision: 'approve' }));
    }
    // Two replicas with different current keys give a repeated form the same answer.
    const [first, second] = answers.map(({ location }) => location ?? '');
    expect(second).toBe(first);
    const code = new URL(first ?? '').searchParams.get('code') ?? '';
    expect((await redeem(front, { app, code, verifier: open.verifier })).status).toBe(200);
    const again = await denied.browser.submit(denied.consent, 'decision', { decision: 'approve' });
    expect(again.text).toContain('Hai già deciso');
    if (index === 1) {
      const operator = openOperator(next, 'ops');
      const { body } = await operator.call(secretOperations.reencrypt.auth, {}).finally(operator.close);
      expect(body).toMatchObject({ done: true });
      await Promise.all(replicas.slice(0, -1).map(({ stop }) => stop()));
      replicas = [next];
    }
    target = next.url;
  }
  const { mailSealer } = openSecrets(openSecretKeys('AUTH_ENCRYPTION_KEY', [NEW]));
  const mails: SnakeKeys<MailRecord>[] = await service.database('mails').whereNotNull('sealed_data');
  expect(mails.length).toBeGreaterThan(people.length);
  for (const mail of mails) openMail(mailSealer, camelKeys(mail));
  await Promise.all(replicas.map(({ stop }) => stop()));
}, 120_000);

test('refuses to start without a key that factors, mails or signing keys need', async () => {
  await expect(restartAuthService(service, { AUTH_ENCRYPTION_KEY: OLD })).rejects.toThrow(
    /AUTH_ENCRYPTION_KEY lacks the key [0-9a-f]{16}, under which totp_factors.sealed_secret holds values/,
  );
});
