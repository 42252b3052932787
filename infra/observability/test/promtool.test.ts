import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';

const RULES = new URL('../generated/rules/', import.meta.url).pathname;
const TESTS = new URL('rules/', import.meta.url).pathname;
const TIMEOUT_MS = 60_000;

const promtool = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', timeout: TIMEOUT_MS });
  return { status, output: `${stdout}${stderr}` };
};
const isInstalled = promtool('--version').status === 0;
if (!isInstalled)
  process.stderr.write('SKIPPED: no promtool on this machine, so Prometheus has not judged the rules\n');

test.skipIf(!isInstalled)('Prometheus accepts every rule file', () => {
  const { status, output } = promtool('check', 'rules', ...readdirSync(RULES).map((file) => `${RULES}${file}`));
  expect(output).not.toContain('FAILED');
  expect(status, output).toBe(0);
});

test.skipIf(!isInstalled).each(readdirSync(TESTS))(
  'Prometheus fires the alerts that %s expects',
  (file) => {
    const { status, output } = promtool('test', 'rules', `${TESTS}${file}`);
    expect(status, output).toBe(0);
  },
  TIMEOUT_MS,
);
