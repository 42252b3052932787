import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { rehearse, type Stage } from '../src/index.ts';
import { collectLogs } from './support/test-app.ts';

setFlagsFromString('--allow-natives-syntax');
// As `runService` does.
setFlagsFromString('--retain-maps-for-n-gc=1000');
/** V8's own answer, in bits; compiled by Maglev or by TurboFan. */
const COMPILED_BITS = 0b110_0000;
const statusOf = new Function('of', 'return %GetOptimizationStatus(of)') as (of: unknown) => number;
/** Compiles it in its next call, and not beside it, when there is time. */
const compile = new Function('of', '%OptimizeFunctionOnNextCall(of)') as (of: unknown) => void;
const isCompiled = (of: unknown): boolean => (statusOf(of) & COMPILED_BITS) !== 0;

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

test('every request is made once, on two stages, and both are closed', async () => {
  const { called, closed, messages } = await play(8);
  expect(called).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect([closed, messages]).toEqual([2, ['rehearsed']]);
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

test('what the first stage leaves is collected, so that no caller waits for that', async () => {
  const left: WeakRef<object>[] = [];
  const requests = 200;
  await play(requests, async (number) => {
    await nextTurn();
    if (number < requests / 4) left.push(new WeakRef({ number }));
    await nextTurn();
  });
  expect(left).toHaveLength(requests / 4);
  expect(left.filter((ref) => ref.deref() !== undefined)).toEqual([]);
});

test('what was compiled stays compiled when nothing is left of any request', async () => {
  const { logger } = collectLogs();
  const lengthOf = (req: IncomingMessage): number => (req.method ?? '').length + (req.url ?? '').length;
  const openStage = async (): Promise<Stage> => {
    const server = createServer((req, res) => {
      let sum = 0;
      for (let again = 0; again < 100; again += 1) sum += lengthOf(req);
      compile(lengthOf);
      res.end(String(sum + lengthOf(req)));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    // A listening TCP server has an address of this shape.
    const { port } = server.address() as AddressInfo;
    return {
      call: async () => void (await (await fetch(`http://127.0.0.1:${port}/`)).text()),
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };
  await rehearse({ requests: 200, callers: 2, openStage, logger });
  expect(isCompiled(lengthOf)).toBe(true);
});
