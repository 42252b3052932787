import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, makeDataDirectory, type RunningStack, startStack, until, untilReady } from './running-stack.ts';

const data = makeDataDirectory();
let stack: RunningStack;
const described = () => stack.description().processes['sample-partner'];
const answers = async (): Promise<boolean> => {
  const health = await fetch(`${described()?.url}/healthz`).catch(() => undefined);
  return health?.status === 200;
};

beforeAll(async () => {
  stack = startStack(data.path, { SAMPLE_PARTNER: 'on' });
  await untilReady(stack);
  await until(() => described() !== undefined);
});
afterAll(async () => {
  stack.child.kill('SIGTERM');
  await stack.exited;
  data.remove();
});

describe('the sample partner app beside the stack', () => {
  test('runs and prints its address even if it cannot register', async () => {
    await until(answers);
    expect(stack.output()).toContain(`${described()?.url}/ in a browser`);
    const lines = stack.output().trimEnd().split('\n');
    expect(lines.slice(lines.findIndex((line) => line.startsWith('ready '))).join('\n')).not.toContain('is ready');
    await until(() => readFileSync(join(data.path, 'logs', 'sample-partner.log'), 'utf8').includes('cannot register'));
  });

  test('restarts at the same address when it dies', async () => {
    const before = described();
    process.kill(before?.pid ?? 0, 'SIGKILL');
    await until(() => described()?.pid !== before?.pid);
    expect(described()?.url).toBe(before?.url);
    await until(answers);
  });

  test('does not stop the stack if it cannot start, and prints the reason', async () => {
    const own = makeDataDirectory();
    writeFileSync(join(own.path, 'sample-partner'), 'where its folder should be');
    const other = startStack(own.path, { SAMPLE_PARTNER: 'on' });
    const baseUrl = await untilReady(other);
    await until(() => other.output().includes('sample-partner ended with code 1'));
    expect(other.output()).toContain('sample-partner gets no webhooks');
    expect((await fetch(`${baseUrl}/v1/subscriptions/plans`)).status).toBe(200);
    const pids = other.pids();
    other.child.kill('SIGINT');
    expect(await other.exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    own.remove();
  });
});
