import { expect, test } from 'vitest';
import { createPasswordHasher } from './passwords.ts';

test('hashes with argon2id: 19 MiB, two passes, one lane', async () => {
  const hasher = await createPasswordHasher(1);
  expect(await hasher.hash('a password')).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test('accepts only the right password, and none without a hash', async () => {
  const hasher = await createPasswordHasher(1);
  const hashed = await hasher.hash('a password');
  expect(await hasher.verify(hashed, 'a password', 'a')).toBe(true);
  expect(await hasher.verify(hashed, 'another one', 'a')).toBe(false);
  expect(await hasher.verify(undefined, 'a password', 'a')).toBe(false);
});

test('hashes without blocking the event loop', async () => {
  const hasher = await createPasswordHasher(2);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  await Promise.all(Array.from({ length: 6 }, () => hasher.hash('a password')));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
});

test('queues hashes in order, and refuses them beyond the limit', async () => {
  const hasher = await createPasswordHasher(1);
  const outcomes = await Promise.allSettled(Array.from({ length: 80 }, () => hasher.verify(undefined, 'x', 'a')));
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(80 - 65);
  expect(refused[0]).toMatchObject({ reason: { code: 'service_unavailable' } });
  expect(await hasher.verify(undefined, 'x', 'a')).toBe(false);
});

test('checks a password before those that wait in the turn of another source', async () => {
  const hasher = await createPasswordHasher(1);
  let answered = 0;
  const crowd = Array.from({ length: 40 }, async () => {
    await hasher.verify(undefined, 'x', 'a');
    answered += 1;
  });
  await hasher.verify(undefined, 'x', 'b');
  expect(answered).toBeLessThan(4);
  await Promise.all(crowd);
});
