import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { rehearse, type Stage } from '../src/index.ts';
import { collectLogs } from './support/test-app.ts';

/** Rehearses, and answers what was called, how often the stage was closed, and what was logged. */
const play = async (requests: number, call: Stage['call'] = async () => {}) => {
  const { logger, lines } = collectLogs();
  const called: number[] = [];
  let closed = 0;
  const openStage = async (): Promise<Stage> => ({
    call: async (number) => {
      called.push(number);
      await call(number);
    },
    close: async () => {
      closed += 1;
    },
  });
  await rehearse({ requests, callers: 3, openStage, logger });
  return { called: called.sort((one, other) => one - other), closed, messages: lines.map(({ message }) => message) };
};

test('every request is made once, and the stage is closed', async () => {
  const { called, closed, messages } = await play(8);
  expect(called).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect([closed, messages]).toEqual([1, ['rehearsed']]);
});

test('none is made where none is wanted', async () => {
  expect(await play(0)).toEqual({ called: [], closed: 0, messages: [] });
});

test('one that fails breaks it off, and the start goes on', async () => {
  const { called, closed, messages } = await play(300, async (number) => {
    if (number === 1) throw new Error('not as it should be');
  });
  expect(called).toContain(1);
  expect([closed, messages]).toEqual([1, ['the rehearsal was broken off']]);
});

test('a stage that cannot be opened breaks it off too', async () => {
  const { logger, lines } = collectLogs();
  const openStage = () => Promise.reject(new Error('no database'));
  await rehearse({ requests: 1, callers: 1, openStage, logger });
  expect(lines).toMatchObject([{ level: 'warn', message: 'the rehearsal was broken off' }]);
});

test('what it leaves is collected, so that no caller waits for that', async () => {
  const left: WeakRef<object>[] = [];
  await play(50, async (number) => {
    await nextTurn();
    left.push(new WeakRef({ number }));
    await nextTurn();
  });
  expect(left.filter((ref) => ref.deref() !== undefined)).toEqual([]);
});
