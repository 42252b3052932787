import { afterEach, expect, test } from 'vitest';
import { claimPortBlock, isPortFree, type PortBlock } from './port-block.ts';

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
