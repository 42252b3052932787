import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHROMIUM_ARGS, findChromium } from '@svc/testing';
import { type BrowserContext, chromium } from 'playwright-core';
import { printTable, say } from './harness/report.ts';

/** Installed for the run: the repository needs it nowhere else. */
const LIGHTHOUSE = 'lighthouse@12.8.2';
const DEFAULT_URL = 'http://127.0.0.1:8080';
const RUNS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const RUN_TIMEOUT_MS = 180_000;
const REPORT_BYTES_MAX = 64 * 1024 * 1024;
const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const;
/** The phone is Lighthouse's own: a slow processor and slow 4G, both simulated. */
const PRESETS = { desktop: ['--preset=desktop'], phone: [] } as const;
const PASSWORD = 'a rather long passphrase';

type Preset = keyof typeof PRESETS;

interface Report {
  readonly categories: Readonly<Record<string, { readonly score: number | null } | undefined>>;
  readonly audits: Readonly<Record<string, Audit | undefined>>;
}

interface Audit {
  readonly id: string;
  readonly title: string;
  readonly score: number | null;
  readonly numericValue?: number;
  readonly displayValue?: string;
}

/** Measures pages of a running stack by Lighthouse: `--url <base URL>`, default http://127.0.0.1:8080. `--only <text>` takes some. */
export const measureLighthouse = async (options: readonly string[]): Promise<void> => {
  const baseUrl = optionOf(options, '--url') ?? DEFAULT_URL;
  const only = optionOf(options, '--only') ?? '';
  const executablePath = await findChromium();
  if (executablePath === undefined) throw new Error('there is no Chromium: set CHROMIUM_PATH');
  const profile = await mkdtemp(join(tmpdir(), 'svc-lighthouse-'));
  const port = await freePort();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    locale: 'en-GB',
    args: [...CHROMIUM_ARGS, `--remote-debugging-port=${port}`],
  });
  try {
    const pages = await preparePages(context, baseUrl);
    const rows: (string | number)[][] = [];
    for (const [name, url] of Object.entries(pages).filter(([page]) => page.includes(only))) {
      for (const preset of ['desktop', 'phone'] as const)
        rows.push([name, preset, ...(await measure(url, preset, port))]);
    }
    printTable(['page', 'preset', ...CATEGORIES, 'LCP ms', 'blocking ms', 'CLS', 'KiB'], rows);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
};

const optionOf = (options: readonly string[], name: string): string | undefined => {
  const place = options.indexOf(name);
  return place === -1 ? undefined : options[place + 1];
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(address)));
    });
  });

/** Signs a business up in the browser and registers an app. Returns the addresses to measure, by name. */
const preparePages = async (context: BrowserContext, baseUrl: string): Promise<Record<string, string>> => {
  const page = context.pages()[0] ?? (await context.newPage());
  const post = async (path: string, data: object, token?: string): Promise<Record<string, unknown>> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await page.request.post(`${baseUrl}${path}`, { data, headers });
    if (!answer.ok()) throw new Error(`${path} answered ${answer.status()}: ${await answer.text()}`);
    return await answer.json();
  };
  const email = `lighthouse-${randomUUID()}@example.com`;
  await post('/v1/console/accounts', {
    email,
    password: PASSWORD,
    account_type: 'business',
    business_name: 'Example Business',
    locale: 'en',
  });
  const session = await post('/v1/console/sessions', { email, password: PASSWORD });
  const app = await post(
    '/v1/integrations/apps',
    { name: 'Notes', redirect_uris: ['https://partner.example/callback'], client_type: 'public' },
    String(session['session_token']),
  );
  await page.goto(`${baseUrl}/sign-in?locale=en`);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.goto('about:blank');
  return {
    'sign-in': `${baseUrl}/sign-in?locale=en`,
    'sign-up': `${baseUrl}/sign-up?locale=en`,
    consent: authorizeUrl(baseUrl, String(app['client_id'])),
    overview: `${baseUrl}/`,
    usage: `${baseUrl}/usage`,
    members: `${baseUrl}/organization/members`,
    plans: `${baseUrl}/plans`,
    prices: `${baseUrl}/prices`,
    'docs quick start': `${baseUrl}/docs/quick-start`,
  };
};

const authorizeUrl = (baseUrl: string, clientId: string): string =>
  `${baseUrl}/v1/integrations/oauth/authorize?${new URLSearchParams({
    client_id: clientId,
    response_type: 'code',
    redirect_uri: 'https://partner.example/callback',
    scope: 'inference',
    state: 'state-of-lighthouse',
    locale: 'en',
    code_challenge_method: 'S256',
    code_challenge: randomBytes(32).toString('base64url'),
  })}`;

/** Runs Lighthouse some times. Returns the median of each figure, and says what falls short. */
const measure = async (url: string, preset: Preset, port: number): Promise<(string | number)[]> => {
  const reports: Report[] = [];
  for (let run = 0; run < RUNS; run += 1) reports.push(await runLighthouse(url, preset, port));
  const [last] = reports;
  for (const audit of Object.values(last?.audits ?? {})) {
    if (audit?.score != null && audit.score < 0.9)
      say(`  ${url} ${preset}: ${audit.id} ${audit.displayValue ?? audit.title}`);
  }
  const medianOf = (read: (report: Report) => number): number =>
    reports.map(read).toSorted((a, b) => a - b)[Math.floor(reports.length / 2)] ?? Number.NaN;
  const numberOf = (id: string) => medianOf(({ audits }) => audits[id]?.numericValue ?? Number.NaN);
  return [
    ...CATEGORIES.map((category) => Math.round(100 * medianOf(({ categories }) => categories[category]?.score ?? 0))),
    Math.round(numberOf('largest-contentful-paint')),
    Math.round(numberOf('total-blocking-time')),
    numberOf('cumulative-layout-shift').toFixed(3),
    Math.round(numberOf('total-byte-weight') / 1024),
  ];
};

const runLighthouse = async (url: string, preset: Preset, port: number): Promise<Report> => {
  const args = ['--yes', LIGHTHOUSE, url, `--port=${port}`, '--output=json', '--quiet', ...PRESETS[preset]];
  const { stdout } = await promisify(execFile)('npx', [...args, `--only-categories=${CATEGORIES.join(',')}`], {
    maxBuffer: REPORT_BYTES_MAX,
    timeout: RUN_TIMEOUT_MS,
  });
  return JSON.parse(stdout);
};
