import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { PortTakenError } from './errors.ts';
import { claimPortBlock, freePort, isPortFree, type PortBlock, startOnPort } from './free-port.ts';

const others: Server[] = [];
afterEach(() => {
  for (const other of others.splice(0)) other.close();
});

const take = async (port: number): Promise<void> => {
  const other = createServer().listen(port, '127.0.0.1');
  others.push(other);
  await once(other, 'listening');
};

/** Returns a start that loses its port to another process a number of times. */
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

test('never returns a port twice, in calls at one time or one after another', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  ports.push(await freePort());
  expect(new Set(ports).size).toBe(21);
});

test('skips a port that is taken', async () => {
  const first = await freePort();
  await take(first + 1);
  expect(await freePort()).not.toBe(first + 1);
});

test('starts on another free port if another process takes the first one', async () => {
  const { tried, start } = beatenTo(2);
  expect(await startOnPort(undefined, 'PostgreSQL', start)).toBe(tried[2]);
  expect(new Set(tried).size).toBe(3);
});

test('names a wanted port that is taken before or during the start', async () => {
  const port = await freePort();
  const { tried, start } = beatenTo(1);
  for (const tries of [1, 1]) {
    const attempt = startOnPort(port, 'NATS', start);
    await expect(attempt).rejects.toThrow(PortTakenError);
    await expect(attempt).rejects.toMatchObject({ port });
    expect(tried).toHaveLength(tries);
  }
});

test('does not start a server again that fails on a free port', async () => {
  let starts = 0;
  const attempt = startOnPort(undefined, 'NATS', () => {
    starts += 1;
    return Promise.reject(new Error('no disk'));
  });
  await expect(attempt).rejects.toThrow('no disk');
  expect(starts).toBe(1);
});

test('names the last port if each one is taken during its start', async () => {
  const { tried, start } = beatenTo(Number.POSITIVE_INFINITY);
  await expect(startOnPort(undefined, 'NATS', start)).rejects.toThrow(PortTakenError);
  expect(tried).toHaveLength(5);
});

const blocks: PortBlock[] = [];
afterEach(() => {
  for (const block of blocks.splice(0)) block.release();
});

const claim = async (previous?: readonly number[]): Promise<PortBlock> => {
  const block = await claimPortBlock(previous);
  blocks.push(block);
  return block;
};

test('claims at one time share no port, also if they had the same ports before', async () => {
  const first = await claim();
  const others = await Promise.all(Array.from({ length: 10 }, () => claim(first.ports)));
  const all = [first, ...others].flatMap(({ ports }) => ports);
  expect(new Set(all).size).toBe(all.length);
});

test('a port of another claim is not available, free as it is, until that is released', async () => {
  const own = await claim();
  const other = await claim();
  const port = other.ports[0] ?? 0;
  expect(await isPortFree(port)).toBe(true);
  expect(await own.isAvailable(port)).toBe(false);
  other.release();
  await expect.poll(() => own.isAvailable(port)).toBe(true);
});

test('claims the block of the previous ports again', async () => {
  const first = await claim();
  first.release();
  await expect.poll(async () => isPortFree((first.ports[0] ?? 0) - 1)).toBe(true);
  expect((await claim([8080, ...first.ports])).ports).toEqual(first.ports);
});
