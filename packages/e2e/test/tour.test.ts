import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readStackFile } from '@svc/testing';
import { expect, inject, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const README = `${ROOT}README.md`;
const run = promisify(execFile);

/** Runs the README's tour in one shell. */
test('the tour in the README works as printed', async () => {
  const readme = await readFile(README, 'utf8');
  const blocks = [...readme.matchAll(/```sh tour\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  expect(blocks.length).toBeGreaterThanOrEqual(5);
  const script = blocks.join('\n').replace(/^BASE=.*$/m, `BASE=${inject('baseUrl')}`);
  // The sample partner app starts after the stack is ready.
  await expect
    .poll(async () => Object.keys((await readStackFile(inject('dataDir'))).processes), { timeout: 30_000 })
    .toContain('sample-partner');
  const env = { ...process.env, SVC_DATA_DIR: inject('dataDir') };
  const { stdout, stderr } = await run('sh', ['-c', script], { timeout: 60_000, cwd: ROOT, env });
  expect(stderr).toBe('');
  expect(stdout).toContain('"account_type":"business"');
  expect(stdout).toMatch(/app_[0-9a-z]{26}/);
  expect(stdout).toContain('"event":"integration.test"');
  expect(stdout).toContain('"status":"active"');
  expect(stdout).toContain('"plan":{"id":"starter","name":"Starter"}');
  expect(stdout).toContain('/v1/integrations/oauth/authorize?client_id=app_');
  expect(stdout).toContain('"object":"chat.completion"');
  expect(stdout).toContain('data: [DONE]');
  const usage = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(usage.weekly.used_micros).toBeGreaterThan(0);
});
