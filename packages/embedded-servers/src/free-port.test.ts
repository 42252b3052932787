import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { PortTakenError } from './errors.ts';
import { freePort, startOnPort } from './free-port.ts';

const others: Server[] = [];
afterEach(() => {
  for (const other of others.splice(0)) other.close();
});

const take = async (port: number): Promise<void> => {
  const other = createServer().listen(port, '127.0.0.1');
  others.push(other);
  await once(other, 'listening');
};

/** A start that another process is faster than, so many times. */
const beatenTo = (times: number) => {
  const tried: number[] = [];
  const start = async (port: number): Promise<number> => {
    tried.push(port);
    if (tried.length > times) return port;
    await take(port);
    throw new Error('could not bind');
  };
  return { tried, start };
};

test('a server starts on another free port when somebody takes its own first', async () => {
  const { tried, start } = beatenTo(2);
  expect(await startOnPort(undefined, 'PostgreSQL', start)).toBe(tried[2]);
  expect(new Set(tried).size).toBe(3);
});

test('a wanted port that is taken, before or meanwhile, is told by its number', async () => {
  const port = await freePort();
  const { tried, start } = beatenTo(1);
  for (const tries of [1, 1]) {
    const attempt = startOnPort(port, 'NATS', start);
    await expect(attempt).rejects.toThrow(PortTakenError);
    await expect(attempt).rejects.toMatchObject({ port });
    expect(tried).toHaveLength(tries);
  }
});

test('a server that fails on a free port is not started again', async () => {
  let starts = 0;
  const attempt = startOnPort(undefined, 'NATS', () => {
    starts += 1;
    return Promise.reject(new Error('no disk'));
  });
  await expect(attempt).rejects.toThrow('no disk');
  expect(starts).toBe(1);
});

test('where every port is taken in between, the last one is told', async () => {
  const { tried, start } = beatenTo(Number.POSITIVE_INFINITY);
  await expect(startOnPort(undefined, 'NATS', start)).rejects.toThrow(PortTakenError);
  expect(tried).toHaveLength(5);
});
