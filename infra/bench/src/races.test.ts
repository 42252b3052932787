import { expect, test } from 'vitest';
import { startStack } from './harness/stack.ts';
import { race } from './races.ts';

test('no race for the two places of an account lets a third request in, from two processes that are killed by turns', async () => {
  const stack = await startStack();
  try {
    const result = await race(stack, { races: 800, kills: 2 });
    expect(result).toMatchObject({ races: 800, kills: 2, breaches: 0 });
    // Whatever is lost with a process, each place goes to one who asks for it.
    expect(result.admitted).toBe(1600);
  } finally {
    await stack.stop();
  }
}, 180_000);
