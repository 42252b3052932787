import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCodes } from '@svc/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { bundleService } from '../scripts/bundle/bundle-service.ts';

const FIXTURE = fileURLToPath(new URL('fixtures/service', import.meta.url));
// Inside this package, so that the fixture's imports resolve.
const DIRECTORY = fileURLToPath(new URL('../.test-service', import.meta.url));

beforeEach(() => cpSync(FIXTURE, DIRECTORY, { recursive: true }));
afterEach(() => rmSync(DIRECTORY, { recursive: true, force: true }));

const run = (file: string): string =>
  execFileSync(process.execPath, [join(DIRECTORY, 'dist', file)], { encoding: 'utf8' });

test('bundles entries and migrations so that they run without the sources', async () => {
  const { files } = await bundleService(DIRECTORY);
  rmSync(join(DIRECTORY, 'src'), { recursive: true });
  rmSync(join(DIRECTORY, 'migrations'), { recursive: true });
  expect(files.map((file) => file.slice(DIRECTORY.length + 6)).sort()).toEqual([
    'migrations/20260101000000_make_it.js',
    'src/main.js',
    'src/migrate.js',
  ]);
  expect(run('src/main.js')).toBe(`bundled ${z.string().parse('x')} ${errorCodes.not_found.status}\n`);
  expect(run('src/migrate.js')).toBe('20260101000000_make_it.js ran\n');
  expect(existsSync(join(DIRECTORY, 'dist/src/main.js.map'))).toBe(true);
});

test('inlines workspace packages and lists third-party packages with exact versions', async () => {
  await bundleService(DIRECTORY);
  const text = readFileSync(join(DIRECTORY, 'dist/src/main.js'), 'utf8');
  expect(text).not.toMatch(/from ["']@svc\//);
  expect(text).toMatch(/from ["']zod["']/);
  const manifest: unknown = JSON.parse(readFileSync(join(DIRECTORY, 'dist/package.json'), 'utf8'));
  expect(manifest).toMatchObject({ type: 'module', dependencies: { zod: expect.stringMatching(/^\d+\.\d+\.\d+$/) } });
});

test('lists the tracing packages and loads them only if tracing is enabled', async () => {
  const module =
    "import { tracer } from '../../src/traces.ts';\nexport const greeting = 'traced: ' + String(tracer().startSpan('step').isRecording());\n";
  const turnOn = "export { openTraces } from '../../src/open-traces.ts';\n";
  writeFileSync(join(DIRECTORY, 'src/greeting.ts'), module + turnOn);
  await bundleService(DIRECTORY, ['src/main.ts', 'src/greeting.ts']);
  expect(run('src/main.js')).toBe('traced: false x 404\n');
  const text = readFileSync(join(DIRECTORY, 'dist/src/greeting.js'), 'utf8');
  expect(text).toContain('import("@opentelemetry/sdk-trace")');
  const { dependencies } = JSON.parse(readFileSync(join(DIRECTORY, 'dist/package.json'), 'utf8'));
  expect(Object.keys(dependencies).filter((name) => name.startsWith('@opentelemetry/'))).toEqual([
    '@opentelemetry/api',
    '@opentelemetry/context-async-hooks',
    '@opentelemetry/core',
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
  ]);
});

test('copies data files to where a module directly in src/ finds them', async () => {
  writeFileSync(join(DIRECTORY, 'data.yaml'), 'from a file');
  const module =
    "import { readFileSync } from 'node:fs';\nexport const greeting = readFileSync(new URL('../data.yaml', import.meta.url), 'utf8');\n";
  writeFileSync(join(DIRECTORY, 'src/greeting.ts'), module);
  await bundleService(DIRECTORY);
  expect(run('src/main.js')).toBe('from a file x 404\n');
});

test('copies the SQL functions beside the migrations', async () => {
  mkdirSync(join(DIRECTORY, 'migrations/functions/used_by_tables'), { recursive: true });
  writeFileSync(join(DIRECTORY, 'migrations/functions/used_by_tables/one.sql'), 'SELECT 1');
  await bundleService(DIRECTORY);
  expect(readFileSync(join(DIRECTORY, 'dist/migrations/functions/used_by_tables/one.sql'), 'utf8')).toBe('SELECT 1');
  expect(existsSync(join(DIRECTORY, 'dist/migrations/20260101000000_make_it.ts'))).toBe(false);
});

test('throws for a module that would resolve files beside the bundle', async () => {
  mkdirSync(join(DIRECTORY, 'src/slice'));
  writeFileSync(join(DIRECTORY, 'src/greeting.ts'), "export { greeting } from './slice/greeting.ts';\n");
  writeFileSync(
    join(DIRECTORY, 'src/slice/greeting.ts'),
    "export const greeting = new URL('x', import.meta.url).href;\n",
  );
  await expect(bundleService(DIRECTORY)).rejects.toThrow(/reads import.meta/);
});

test('throws for code that is for tests', async () => {
  mkdirSync(join(DIRECTORY, 'src/testing'));
  writeFileSync(join(DIRECTORY, 'src/greeting.ts'), "export { greeting } from './testing/greeting.ts';\n");
  writeFileSync(join(DIRECTORY, 'src/testing/greeting.ts'), "export const greeting = 'stand-in';\n");
  await expect(bundleService(DIRECTORY)).rejects.toThrow('src/testing/greeting.ts');
});
