import { readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runToEnd, startProcess } from '@svc/testing/servers';
import type { BoundedLog } from '../process/supervisor.ts';
import { keepNodeRunning } from './keep-running.ts';
import { reportStep, withLogPath } from './report.ts';
import { SAMPLE_PARTNER, SAMPLE_PARTNER_WEBHOOKS, samplePartnerFolder } from './sample-receiver.ts';
import { inheritedEnvironment, loopbackUrl } from './service-environment.ts';
import { CONSOLE, consoleFolder } from './settings.ts';
import type { StackContext } from './stack-context.ts';

const BUILD_TIMEOUT_MS = 900_000;
/** Sources of the pages: the console's and the documentation's. */
const SOURCES = [
  ...['index.html', 'vite.config.ts', 'public', 'src/web'],
  ...['src', 'client', 'style'].map((folder) => `../../packages/documentation/${folder}`),
  ...['../../docs', '../../packages/contracts/src', '../../packages/partner-sdk/src'],
];

/** Builds the pages with Vite if they are missing or older than their sources. Throws StartError. */
const buildPagesIfOld = async (
  directory: string,
  { log, signal }: { readonly log: BoundedLog; readonly signal: AbortSignal },
): Promise<void> => {
  if (!needsBuild(directory)) return;
  const manifest = createRequire(join(directory, 'package.json')).resolve('vite/package.json');
  const build = await startProcess({
    command: [process.execPath, join(manifest, '..', 'bin', 'vite.js'), 'build'],
    cwd: directory,
    // The build finds its programs through the PATH.
    env: process.env,
    stopSignals: ['SIGTERM'],
    onOutput: log.write,
  });
  await withLogPath(log.path, () =>
    runToEnd(build, { name: 'The build of the console', timeoutMs: BUILD_TIMEOUT_MS, signal }),
  );
};

const needsBuild = (directory: string): boolean => {
  const built = statSync(join(directory, 'dist', 'web', 'index.html'), { throwIfNoEntry: false });
  if (built === undefined) return true;
  return SOURCES.some((source) => newestChangeMs(join(directory, source)) > built.mtimeMs);
};

const newestChangeMs = (path: string): number => {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  const below = readdirSync(path).map((name) => newestChangeMs(join(path, name)));
  return Math.max(0, ...below);
};

/** Returns the URL of the sample partner app, or undefined if it is off. */
export const samplePartnerUrl = ({ ports }: Pick<StackContext, 'ports'>): string | undefined =>
  ports.has(SAMPLE_PARTNER) ? loopbackUrl(ports, SAMPLE_PARTNER) : undefined;

export const startSamplePartner = async (context: StackContext): Promise<void> => {
  const { settings, ports, paths, baseUrl } = context;
  const url = samplePartnerUrl(context);
  if (url === undefined) return;
  await keepNodeRunning(context, {
    name: SAMPLE_PARTNER,
    script: fileURLToPath(import.meta.resolve('@svc/sandbox/partner/main')),
    directory: settings.root,
    env: {
      ...inheritedEnvironment(settings.env, paths.compileCache),
      PUBLIC_BASE_URL: baseUrl,
      PORT: String(ports.get(SAMPLE_PARTNER)),
      WEBHOOKS_PORT: String(ports.get(SAMPLE_PARTNER_WEBHOOKS)),
      SAMPLE_PARTNER_DIR: samplePartnerFolder(settings),
    },
    url,
    readyUrl: `${url}/healthz`,
  });
};

/** Returns the URL of the console, or undefined if there is none. */
export const consoleUrl = ({ ports }: Pick<StackContext, 'ports'>): string | undefined =>
  ports.has(CONSOLE) ? loopbackUrl(ports, CONSOLE) : undefined;

/** Starts the console, which also serves the documentation, and builds its pages first if they are old. */
export const startConsole = async (context: StackContext): Promise<void> => {
  const { settings, ports, paths, baseUrl, logOf, report, signal } = context;
  const url = consoleUrl(context);
  if (url === undefined) return;
  const directory = consoleFolder(settings);
  const internalUrl = loopbackUrl(ports, `${CONSOLE}-internal`);
  await reportStep(report, { doing: 'building the pages of the console and the documentation' }, () =>
    buildPagesIfOld(directory, { log: logOf(`${CONSOLE}-build`), signal }),
  );
  await keepNodeRunning(context, {
    name: CONSOLE,
    script: join(directory, 'src', 'main.ts'),
    directory,
    env: {
      ...inheritedEnvironment(settings.env, paths.compileCache),
      PUBLIC_BASE_URL: baseUrl,
      SAMPLE_APP_URL: samplePartnerUrl(context) ?? '',
      HOST: '127.0.0.1',
      PORT: String(ports.get(CONSOLE)),
      INTERNAL_PORT: String(ports.get(`${CONSOLE}-internal`)),
    },
    url,
    internalUrl,
    readyUrl: `${internalUrl}/readyz`,
  });
};
