import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCodeBlocks } from '@svc/documentation';
import { freePort, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from './support/api.ts';
import { type Person, type RegisteredApp, registerApp, signUp, subscribe } from './support/people.ts';

const GUIDE = fileURLToPath(new URL('../../../docs/guides/quick-start.md', import.meta.url));
const PACKAGES = fileURLToPath(new URL('../../sandbox/node_modules/', import.meta.url));
const QUESTION = 'Where does the sun rise?';
const svc = (): string => inject('baseUrl');

interface RunningApp {
  readonly url: string;
  readonly stop: () => void;
}

let folder: string;
let app: RegisteredApp;
let port: number;

/** Runs the app of the quick start, with another question to provoke the sandbox provider. */
const runApp = async (question = QUESTION): Promise<RunningApp> => {
  const blocks = readCodeBlocks(await readFile(GUIDE, 'utf8'));
  const source = blocks.find(({ role }) => role?.kind === 'file' && role.name === 'app.mjs')?.code ?? '';
  expect(source).toContain(QUESTION);
  const file = join(folder, `${randomUUID()}.mjs`);
  await writeFile(file, source.replace(QUESTION, question));
  const env = {
    ...process.env,
    SVC: svc(),
    PORT: String(port),
    CLIENT_ID: app.clientId,
    CLIENT_SECRET: app.clientSecret,
    SIGNING_SECRET: 'whsec_unused',
  };
  const child: ChildProcess = spawn(process.execPath, [file], { env, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${url}/nothing`)).status === 404);
  return { url, stop: () => child.kill() };
};

/** A browser with cookies, as far as the app needs one. */
const openBrowser = () => {
  let cookie = '';
  const visit = async (url: string): Promise<Response> => {
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    cookie = response.headers.getSetCookie()[0]?.split(';', 1)[0] ?? cookie;
    return response;
  };
  const follow = async (url: string): Promise<{ status: number; text: string }> => {
    const response = await visit(url);
    const to = response.headers.get('location');
    if (to !== null) return await follow(new URL(to, url).href);
    return { status: response.status, text: await response.text() };
  };
  return { visit, follow };
};

/** Decides on the consent page in a person's name. Returns the address of the callback. */
const decide = async (person: Person, authorize: string, decision: object): Promise<string> => {
  const asked = Object.fromEntries(new URL(authorize).searchParams);
  const answer = await call('POST', '/v1/integrations/oauth/authorize', {
    token: person.token,
    body: {
      client_id: asked['client_id'],
      redirect_uri: asked['redirect_uri'],
      scope: asked['scope'],
      code_challenge: asked['code_challenge'],
      code_challenge_method: 'S256',
      state: asked['state'],
      ...decision,
    },
  });
  expect(answer.status, answer.text).toBe(200);
  return String(answer.body.redirect_to);
};

const connect = async (running: RunningApp, person: Person, decision: object = { approved: true }) => {
  const browser = openBrowser();
  const authorize = (await browser.visit(`${running.url}/`)).headers.get('location') ?? '';
  const callback = await decide(person, authorize, decision);
  return { browser, callback, page: await browser.follow(callback) };
};

const expectSentence = (page: { text: string }, sentence: RegExp, href: string): void => {
  expect(page.text).toMatch(sentence);
  expect(page.text).toContain(`href="${href}"`);
  expect(page.text).not.toMatch(/node_modules|\.mjs|Error:/);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-quick-start-'));
  // The sample partner imports the same packages.
  await symlink(PACKAGES, join(folder, 'node_modules'));
  port = await freePort();
  app = await registerApp(await signUp('business'), 'confidential', `http://127.0.0.1:${port}/callback`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the app of the quick start', () => {
  test('answers once more after a reload of the callback, and explains a denial, a missing plan and a reached limit', async () => {
    const running = await runApp();
    try {
      const person = await signUp('personal');
      const denied = await connect(running, person, { approved: false });
      expectSentence(denied.page, /You did not connect\. Nothing was shared\./, '/');
      const planless = await connect(running, person);
      expect(planless.page.status).toBe(402);
      expectSentence(planless.page, /You have no active plan\./, `${svc()}/plans`);
      await subscribe(person);
      const limit = { limit_micros: 1, period: 'week' };
      const limited = await connect(running, person, { approved: true, budget: limit });
      expect(limited.page.status).toBe(402);
      expectSentence(limited.page, /does not cover this\. It starts again on \w+, /, `${svc()}/connections`);
      const connected = await connect(running, person, { approved: true, budget: null });
      expect(connected.page).toEqual({ status: 200, text: expect.stringMatching(/^\w+ .*\n$/) });
      expect(await connected.browser.follow(connected.callback)).toEqual(connected.page);
      const foreign = await openBrowser().follow(connected.callback);
      expectSentence(foreign, /Connecting did not work\. Start again\./, '/');
    } finally {
      running.stop();
    }
  });

  test.each([
    ['a provider that is down', '[[status=503]]', /That did not work\. Try again in a minute\./, '/answer'],
    ['an answer that is lost on its way', '[[reset]]', /The answer is lost, and may be billed\./, undefined],
  ])('explains %s', async (_name, question, sentence, href) => {
    const running = await runApp(question);
    try {
      const person = await signUp('personal');
      await subscribe(person);
      expectSentence((await connect(running, person)).page, sentence, href ?? svc());
    } finally {
      running.stop();
    }
  });
});
