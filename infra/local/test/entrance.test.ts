import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exists } from '../src/process/package-managers.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const MANAGERS = pathToFileURL(fileURLToPath(new URL('../src/process/package-managers.ts', import.meta.url))).href;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-entrance-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('forwards the supervisor’s message and exit code', () => {
  const env = { PATH: process.env['PATH'], SVC_DATA_DIR: directory, PORT: 'http' };
  const { status, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr.trim()).toBe('PORT=http is not a port: use 0 to 65535.');
});

test('names the remedy for a data directory that cannot be created', () => {
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const env = { PATH: process.env['PATH'], SVC_DATA_DIR: join(file, 'data'), PORT: '0' };
  const { status, stderr } = spawnSync(process.execPath, [MAIN], { env, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toContain('cannot be used as the data directory');
  expect(stderr).not.toContain('    at ');
});

test('lists the package managers above a process, without the shells between', () => {
  const ask = join(directory, 'ask.mjs');
  const pnpm = join(directory, 'pnpm.cjs');
  writeFileSync(
    ask,
    `import { listPackageManagers } from '${MANAGERS}'; console.log(JSON.stringify(listPackageManagers(process.pid)));`,
  );
  writeFileSync(
    pnpm,
    `console.log(process.pid);
     require('node:child_process').spawnSync('sh', ['-c', '"$0" "$1"; true', process.execPath, ${JSON.stringify(ask)}], { stdio: 'inherit' });`,
  );
  const [pid, found] = execFileSync(process.execPath, [pnpm], { encoding: 'utf8' }).trim().split('\n');
  const managers: unknown = JSON.parse(found ?? '');
  // These tests may run below another package manager.
  expect(Array.isArray(managers) && managers[0]).toBe(Number(pid));
  expect(managers).not.toContain(process.pid);
  expect(exists(Number(pid))).toBe(false);
  expect(exists(process.pid)).toBe(true);
});
