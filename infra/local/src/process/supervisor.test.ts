import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ProcessEndedError, type ProcessExit, type RunningProcess } from '@svc/testing/servers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSupervisor, openLog, type Supervisor } from './supervisor.ts';

interface Launched {
  readonly name: string;
  readonly end: () => void;
  stops: number;
}

let launched: Launched[];
let waits: number[];
let started: string[];
let stopped: string[];
let nowMs: number;
let endWait: () => void;
let asked: AbortController;
let supervisor: Supervisor;

beforeEach(() => {
  launched = [];
  waits = [];
  started = [];
  stopped = [];
  nowMs = 0;
  asked = new AbortController();
  supervisor = createSupervisor({
    signal: asked.signal,
    started: (name, pid, isAgain) => started.push(`${name} ${pid}${isAgain ? ' again' : ''}`),
    ended: () => undefined,
    failed: () => undefined,
    now: () => nowMs,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        waits.push(ms);
        endWait = resolve;
        signal.addEventListener('abort', () => resolve());
      }),
  });
});

const launch = async (name = 'it'): Promise<RunningProcess> => {
  const { promise: exited, resolve } = Promise.withResolvers<ProcessExit>();
  const own: Launched = { name, end: () => resolve({ code: 1, signal: null }), stops: 0 };
  launched.push(own);
  const end = (exit: ProcessExit) => async (): Promise<void> => {
    own.stops += 1;
    stopped.push(name);
    resolve(exit);
  };
  return {
    pid: launched.length,
    exited,
    stop: end({ code: 0, signal: null }),
    kill: end({ code: null, signal: 'SIGKILL' }),
    lastOutput: () => '',
  };
};

const plan = (name = 'it') => ({ name, launch: () => launch(name) });

const end = async (): Promise<void> => {
  launched.at(-1)?.end();
  await setImmediate();
};

const endAndWait = async (): Promise<void> => {
  await end();
  endWait();
  await setImmediate();
};

describe('a supervisor', () => {
  test('relaunches a process whenever it ends, with a backoff up to five seconds', async () => {
    await supervisor.start(plan());
    for (let ends = 0; ends < 8; ends += 1) await endAndWait();
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(started).toEqual(['it 1', ...[2, 3, 4, 5, 6, 7, 8, 9].map((pid) => `it ${pid} again`)]);
  });

  test('resets the backoff once the process has run for a while', async () => {
    await supervisor.start(plan());
    await endAndWait();
    await endAndWait();
    nowMs = 10_001;
    await endAndWait();
    expect(waits).toEqual([100, 200, 100]);
  });

  test('retries a failed later launch and throws for a failed first one', async () => {
    let isBroken = false;
    const fragile = { name: 'it', launch: () => (isBroken ? Promise.reject(new Error('no')) : launch()) };
    await supervisor.start(fragile);
    isBroken = true;
    await endAndWait();
    expect(started).toEqual(['it 1']);
    isBroken = false;
    endWait();
    await setImmediate();
    expect(started).toEqual(['it 1', 'it 2 again']);
    isBroken = true;
    await expect(supervisor.start(fragile)).rejects.toThrow('no');
  });

  test('throws after attemptsMax first launches that end early', async () => {
    let launches = 0;
    const ends = async (): Promise<RunningProcess> => {
      launches += 1;
      throw new ProcessEndedError(`ended ${launches}`);
    };
    const start = supervisor.start({ name: 'it', launch: ends, attemptsMax: 3 });
    for (let tries = 1; tries < 3; tries += 1) {
      await setImmediate();
      endWait();
    }
    await expect(start).rejects.toThrow('ended 3');
    expect(launches).toBe(3);
  });

  test('counts no launch that ends late, and gives up after ten minutes', async () => {
    let launches = 0;
    const endsLate = async (): Promise<RunningProcess> => {
      launches += 1;
      nowMs += 60_000;
      throw new ProcessEndedError(`ended ${launches}`);
    };
    const start = supervisor.start({ name: 'it', launch: endsLate, attemptsMax: 3 });
    start.catch(() => undefined);
    while (launches < 11) {
      await setImmediate();
      endWait();
    }
    await expect(start).rejects.toThrow('ended 11');
  });

  test('launches nothing after a stop, even one during the backoff', async () => {
    await supervisor.start(plan());
    await end();
    await supervisor.stop([]);
    expect(waits).toEqual([100]);
    expect(launched).toHaveLength(1);
  });

  test('launches nothing after its signal aborts, and keeps running processes', async () => {
    await supervisor.start(plan('lives'));
    await supervisor.start(plan('ends'));
    asked.abort();
    await end();
    expect(waits).toEqual([]);
    expect(stopped).toEqual([]);
    await expect(supervisor.start(plan('late'))).rejects.toThrow('aborted');
    expect(launched).toHaveLength(2);
  });

  test('aborts a pending launch on stop, and stops its process if it succeeds', async () => {
    const late = Promise.withResolvers<void>();
    let signalled = false;
    const slow = async (signal: AbortSignal): Promise<RunningProcess> => {
      signal.addEventListener('abort', () => {
        signalled = true;
      });
      await late.promise;
      return launch();
    };
    const start = supervisor.start({ name: 'it', launch: slow });
    start.catch(() => undefined);
    await setImmediate();
    const stop = supervisor.stop([]);
    late.resolve();
    await stop;
    expect(signalled).toBe(true);
    expect(launched.map(({ stops }) => stops > 0)).toEqual([true]);
  });

  test('stops wave by wave, unnamed processes first', async () => {
    for (const name of ['database', 'service', 'extra']) await supervisor.start(plan(name));
    await supervisor.stop([['service'], ['database']]);
    expect([...new Set(stopped)]).toEqual(['extra', 'service', 'database']);
  });
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-log-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('appends, and is readable by its owner only', () => {
  const path = join(directory, 'logs', 'a.log');
  openLog(path).write('one\n');
  openLog(path).write('two\n');
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  expect(statSync(path).mode & 0o077).toBe(0);
});

test('keeps at most two files of bounded size', () => {
  const path = join(directory, 'a.log');
  const log = openLog(path, 100);
  for (let index = 0; index < 100; index += 1) log.write(`line ${String(index).padStart(3, '0')}\n`);
  expect(statSync(path).size + statSync(`${path}.1`).size).toBeLessThanOrEqual(2 * 109);
  expect(readFileSync(path, 'utf8')).toMatch(/line 099\n$/);
  log.close();
  log.write('too late');
});
