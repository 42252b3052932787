import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ProcessExit, RunningProcess } from './node-process.ts';
import { type SupervisionEvents, type SupervisionTiming, supervise } from './supervise.ts';

interface Launched {
  end: () => void;
  stops: number;
}

let launched: Launched[];
let waits: number[];
let started: number[];
let nowMs: number;
let endWait: () => void;

beforeEach(() => {
  launched = [];
  waits = [];
  started = [];
  nowMs = 0;
});

const events: SupervisionEvents = {
  started: (_name, pid) => started.push(pid),
  died: () => undefined,
  failed: () => undefined,
};

const timing: SupervisionTiming = {
  now: () => nowMs,
  wait: (ms, signal) =>
    new Promise((resolve) => {
      waits.push(ms);
      endWait = resolve;
      signal.addEventListener('abort', () => resolve());
    }),
};

const launch = async (): Promise<RunningProcess> => {
  const { promise: exited, resolve } = Promise.withResolvers<ProcessExit>();
  const own: Launched = { end: () => resolve({ code: 1, signal: null }), stops: 0 };
  launched.push(own);
  const stop = async (): Promise<void> => {
    own.stops += 1;
    resolve({ code: 0, signal: null });
  };
  return { pid: launched.length, exited, stop, kill: () => resolve({ code: null, signal: 'SIGKILL' }) };
};

const die = async (): Promise<void> => {
  launched.at(-1)?.end();
  await setImmediate();
};

const dieAndWait = async (): Promise<void> => {
  await die();
  endWait();
  await setImmediate();
};

describe('supervise', () => {
  test('starts a process again whenever it ends, ever slower up to five seconds', async () => {
    const supervised = await supervise({ name: 'it', launch }, events, timing);
    for (let deaths = 0; deaths < 8; deaths += 1) await dieAndWait();
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(started).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(supervised.deaths()).toBe(8);
  });

  test('starts fast again after the process has run for a while', async () => {
    await supervise({ name: 'it', launch }, events, timing);
    await dieAndWait();
    await dieAndWait();
    nowMs = 10_001;
    await dieAndWait();
    expect(waits).toEqual([100, 200, 100]);
  });

  test('tries again when a later launch fails, and throws when the first one does', async () => {
    let isBroken = false;
    const fragile = (): Promise<RunningProcess> => (isBroken ? Promise.reject(new Error('no')) : launch());
    await supervise({ name: 'it', launch: fragile }, events, timing);
    isBroken = true;
    await dieAndWait();
    expect(started).toEqual([1]);
    isBroken = false;
    endWait();
    await setImmediate();
    expect(started).toEqual([1, 2]);
    isBroken = true;
    await expect(supervise({ name: 'it', launch: fragile }, events, timing)).rejects.toThrow('no');
  });

  test('stays stopped, also when it is stopped while it waits to start again', async () => {
    const running = await supervise({ name: 'it', launch }, events, timing);
    await running.stop();
    expect(launched).toHaveLength(1);
    const waiting = await supervise({ name: 'it', launch }, events, timing);
    await die();
    await waiting.stop();
    expect(waits).toEqual([100]);
    expect(launched).toHaveLength(2);
  });

  test('stops what a launch under way leaves behind', async () => {
    let finishLaunch: (() => void) | undefined;
    const slow = async (): Promise<RunningProcess> => {
      if (launched.length > 0) {
        await new Promise<void>((resolve) => {
          finishLaunch = resolve;
        });
      }
      return launch();
    };
    const supervised = await supervise({ name: 'it', launch: slow }, events, timing);
    await dieAndWait();
    const stopped = supervised.stop();
    finishLaunch?.();
    await stopped;
    expect(launched.map(({ stops }) => stops > 0)).toEqual([true, true]);
  });
});
