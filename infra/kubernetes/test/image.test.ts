import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasBuildah } from './support/buildah.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const STEP_TIMEOUT_MS = 240_000;
const PACKAGE = '@svc/webhook-dispatcher';
const VERSION = '1.2.3';
const START_TIMEOUT_MS = 30_000;
/** The image's user. */
const UNPRIVILEGED = 1000;

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-image-'));
  chmodSync(root, 0o755);
});
afterAll(() => {
  execFileSync('chmod', ['-R', 'u+w', root]);
  rmSync(root, { recursive: true, force: true });
});

/** Commands of the build stage, each with its working folder. */
const buildSteps = (): { directory: string; command: string }[] => {
  const text = readFileSync(join(ROOT, 'infra/docker/Dockerfile'), 'utf8');
  const stage = text.slice(text.indexOf(' AS build'), text.lastIndexOf('\nFROM ')).replaceAll(/\\\n\s*/g, ' ');
  let directory = '/';
  return stage.split('\n').flatMap((line) => {
    if (line.startsWith('WORKDIR ')) directory = line.slice('WORKDIR '.length);
    const command = /^RUN (?:--mount=\S+ )*(.*)$/.exec(line)?.[1];
    return command === undefined ? [] : [{ directory, command }];
  });
};

/** Copies the files of `COPY . .`: the repository without ignored files. */
const copyContext = (target: string): void => {
  const ignored = readFileSync(join(ROOT, 'infra/docker/Dockerfile.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(
      (pattern) =>
        new RegExp(
          `^${pattern
            .replaceAll('.', '\\.')
            .replace('**/', '(?:.*/)?')
            .replaceAll(/(?<!\.)\*/g, '[^/]*')}(?:/|$)`,
        ),
    );
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '' && !ignored.some((pattern) => pattern.test(name)))) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(ROOT, file), join(target, file));
  }
};

/** Runs a command in the finished folder like the image: only its files, read-only, as an unprivileged user. */
const runShipped = (args: readonly string[]) =>
  spawnSync(process.execPath, args, {
    cwd: join(root, 'app'),
    env: { NODE_ENV: 'production' },
    encoding: 'utf8',
    timeout: START_TIMEOUT_MS,
    ...(process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}),
  });

// With buildah, built-image.test.ts builds and runs the image itself.
test.skipIf(hasBuildah())(
  'the steps of the Dockerfile build a service that an unprivileged user can run but not change',
  {
    timeout: STEP_TIMEOUT_MS,
  },
  () => {
    copyContext(join(root, 'repo'));
    const steps = buildSteps();
    expect(steps.length).toBeGreaterThanOrEqual(5);
    for (const step of steps) runStep(step);
    execFileSync('chmod', ['-R', 'a+rX,a-w', join(root, 'app')]);

    const started = runShipped(['src/main.js']);
    expect(started.status, started.stderr).toBe(1);
    // All imports were found; only the configuration is missing.
    expect(started.stdout).toContain('The configuration is invalid');
    expect(started.stdout).toContain('DATABASE_URL');
    const traces = "await import('@opentelemetry/sdk-trace'); await import('@opentelemetry/exporter-trace-otlp-http');";
    const loaded = runShipped(['--input-type=module', '--eval', traces]);
    expect(loaded.status, loaded.stderr).toBe(0);

    const sbom: { metadata: { component: object }; components: { name: string }[] } = readJson('app/sbom.cdx.json');
    // The component's `name` is the folder's; its reference names the package.
    expect(JSON.stringify(sbom.metadata.component)).toContain(`/webhook-dispatcher@${VERSION}`);
    const names = sbom.components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['knex', 'nats', '@opentelemetry/sdk-trace']));
    expect(names.filter((name) => /vitest|typescript|esbuild|biome/.test(name))).toEqual([]);
  },
);

const runStep = ({ directory, command }: { directory: string; command: string }): void => {
  // Both package managers are installed here in the same versions as in the base image.
  if (command.startsWith('npm install --global pnpm@')) return;
  execFileSync('/bin/sh', ['-c', command.replaceAll(/(?<=\s)\/(app|deployed|repo|state)\b/g, `${root}/$1`)], {
    cwd: join(root, directory),
    env: {
      ...process.env,
      CI: 'true',
      PACKAGE,
      VERSION,
      PATH: `${ROOT}/node_modules/.bin:${process.env['PATH']}`,
      pnpm_config_verify_deps_before_run: 'false',
      pnpm_config_prefer_offline: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
};

const readJson = <T>(path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8'));
