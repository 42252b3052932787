import { afterEach, expect, test } from 'vitest';
import {
  ProcessEndedError,
  ProcessError,
  type RunningProcess,
  runToEnd,
  startProcess,
  waitUntilReady,
} from '../../src/servers/index.ts';
import { isAlive } from './support/killed-supervisor.ts';

const open: RunningProcess[] = [];
afterEach(async () => {
  for (const running of open.splice(0)) await running.kill();
});

/** Starts a Node process that runs a line of code. */
const run = async (code: string, stopStepMs?: number): Promise<RunningProcess> => {
  const running = await startProcess({
    command: [process.execPath, '-e', code],
    env: {},
    stopSignals: ['SIGTERM'],
    stopStepMs,
  });
  open.push(running);
  return running;
};

const FOREVER = 'setInterval(() => undefined, 60_000)';
const never = (): Promise<boolean> => new Promise(() => undefined);

test('kills a process that ignores its stop signal', async () => {
  const running = await run(`process.on('SIGTERM', () => undefined); console.log('deaf'); ${FOREVER}`, 100);
  await expect.poll(() => running.lastOutput(), { timeout: 30_000 }).toContain('deaf');
  await running.stop();
  expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
});

test('gives up a probe that hangs as soon as the process ends, and names the reason', async () => {
  const running = await run(`console.error('Error: no disk'); process.exitCode = 3`);
  const waiting = waitUntilReady(running, { name: 'it', isReady: never, timeoutMs: 60_000 });
  await expect(waiting).rejects.toThrow(ProcessEndedError);
  await expect(waiting).rejects.toThrow(/^it ended with code 3: Error: no disk$/);
});

test('gives up a probe that hangs when the signal aborts, and stops the process', async () => {
  const running = await run(FOREVER);
  const asked = new AbortController();
  const waiting = waitUntilReady(running, { name: 'it', isReady: never, timeoutMs: 60_000, signal: asked.signal });
  asked.abort(new Error('asked to stop'));
  await expect(waiting).rejects.toThrow('asked to stop');
  expect(isAlive(running.pid)).toBe(false);
});

test('stops a process that is not ready in time', async () => {
  const running = await run(FOREVER);
  const waiting = waitUntilReady(running, { name: 'it', isReady: () => false, timeoutMs: 50 });
  await expect(waiting).rejects.toThrow(/^it is not ready after 0\.05 s$/);
  expect(isAlive(running.pid)).toBe(false);
});

test('ends a job that succeeds, and throws for one that fails, takes too long or is abandoned', async () => {
  const job = (code: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
    run(code).then((running) => runToEnd(running, { name: 'The job', timeoutMs: 60_000, ...options }));
  await job('');
  await expect(job('process.exitCode = 2')).rejects.toThrow(/^The job ended with code 2$/);
  await expect(job(FOREVER, { timeoutMs: 50 })).rejects.toThrow(ProcessError);
  await expect(job(FOREVER, { signal: AbortSignal.abort(new Error('asked to stop')) })).rejects.toThrow(
    'asked to stop',
  );
  expect(open.map(({ pid }) => isAlive(pid))).toEqual([false, false, false, false]);
});
