import { expect, test } from 'vitest';
import { overshoot } from './app-budget-races.ts';
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

test('never lets an app pass its budget, whichever process is killed, and counts every cost', async () => {
  const stack = await startStack();
  try {
    const result = await overshoot(stack, { seed: 7, accounts: 120, kills: 2 });
    expect(result).toMatchObject({ accounts: 120, kills: 2, overshootMicros: 0, wrongMicros: 0 });
    // The limits stood in the way of some requests, not of all.
    expect(result.refused).toBeGreaterThan(0);
    expect(result.admitted).toBeGreaterThan(result.accounts);
  } finally {
    await stack.stop();
  }
}, 180_000);
