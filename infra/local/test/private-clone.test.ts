import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { makeDataDirectory, until } from './running-stack.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const RUNNER = 'infra/local/test/fixtures/run-stack.ts';

const canUnshare = (): boolean => {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'pipe' });
    return true;
  } catch {
    process.stderr.write('SKIPPED: test of a clone below a private directory, as this user has no mount namespace.\n');
    return false;
  }
};

test.skipIf(!canUnshare())('root starts the stack in a clone below a directory that only root may enter', async () => {
  const { path, remove } = makeDataDirectory();
  onTestFinished(remove);
  chmodSync(path, 0o700);
  const clone = join(path, 'clone');
  mkdirSync(clone);
  // Mounts this clone at another place, visible only to the test's processes.
  const script = `mount --bind "$0" "$1" && cd "$1" && exec "$2" ${RUNNER}`;
  const env = { PATH: process.env['PATH'], PORT: '0', SVC_DATA_DIR: join(path, 'data'), SAMPLE_PARTNER: 'off' };
  const child = spawn('unshare', ['--mount', 'sh', '-c', script, ROOT, clone, process.execPath], {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await until(() => /^ready /m.test(output) || child.exitCode !== null);
  expect(output).toMatch(/^ready /m);
  const { processes } = JSON.parse(readFileSync(join(path, 'data', 'stack.json'), 'utf8'));
  const status = readFileSync(`/proc/${processes.postgres.pid}/status`, 'utf8');
  expect(status).toMatch(/^CapEff:\s+0+$/m);
  expect(status).not.toMatch(/^Uid:\s+0\b/m);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});
