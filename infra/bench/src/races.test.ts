import { expect, test } from 'vitest';
import { startStack } from './harness/stack.ts';
import { race } from './races.ts';

test('never admits a third request of an account in races over two processes that are killed in turn', async () => {
  const stack = await startStack();
  try {
    const result = await race(stack, { races: 800, kills: 2 });
    expect(result).toMatchObject({ races: 800, kills: 2, breaches: 0 });
    // Every slot is used, even if a process dies.
    expect(result.admitted).toBe(1600);
  } finally {
    await stack.stop();
  }
}, 180_000);
