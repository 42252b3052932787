import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, createLocalJWKSet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { openDerivedKeys, signClaims } from './signing.ts';

const secretOf = (byte: number) => ({
  derive: (purpose: string) => createHash('sha256').update(`${byte}:${purpose}`).digest(),
});
const at = (day: string, { purpose = 'tests', bytes = [3] }: { purpose?: string; bytes?: readonly number[] } = {}) => {
  const [first = 0, ...others] = bytes;
  return openDerivedKeys({
    secrets: [secretOf(first), ...others.map(secretOf)],
    listFormer: async () => [],
    purpose,
    typ: 'x+jwt',
    clock: () => Date.parse(day),
  });
};

describe('derived keys', () => {
  test('rotate every 90 days, stay published, and are published one period in advance', async () => {
    const first = at('2026-12-29');
    const next = at('2026-12-30');
    expect(await first.published()).toHaveLength(2);
    expect(await next.published()).toEqual([expect.anything(), ...(await first.published())]);
    expect(await first.published()).toEqual([next.active().publicKey, first.active().publicKey]);
    expect(JSON.stringify(await next.published())).not.toContain('"d"');
    const { kid, ...jwk } = first.active().publicKey;
    expect(kid).toBe(await calculateJwkThumbprint(jwk));
  });

  test('are the same for every replica', () => {
    expect(at('2026-10-02').active().publicKey).toEqual(at('2026-11-02').active().publicKey);
  });

  test('differ by secret and by purpose', () => {
    const day = '2026-10-02';
    const all = [at(day), at(day, { purpose: 'others' }), at(day, { bytes: [4] })];
    expect(new Set(all.map(({ active }) => active().publicKey.kid)).size).toBe(3);
  });

  test('of a second secret are published, and sign once it is the first', async () => {
    const day = '2026-10-02';
    const appended = at(day, { bytes: [3, 4] });
    const moved = at(day, { bytes: [4, 3] });
    expect(appended.active().publicKey).toEqual(at(day).active().publicKey);
    expect(await appended.published()).toContainEqual(moved.active().publicKey);
    expect(moved.retiring()).toEqual(await at(day).published());
  });

  // One signature in 256 has an integer of fewer than 32 bytes, and half of them one with a leading zero.
  test('sign claims that another library verifies, with integers of any length', async () => {
    const keys = at('2026-10-02');
    const set = createLocalJWKSet({ keys: [...(await keys.published())] });
    for (let n = 0; n < 600; n += 1) {
      const { payload, protectedHeader } = await jwtVerify(signClaims(keys.active(), { n }), set);
      expect([payload['n'], protectedHeader.typ]).toEqual([n, 'x+jwt']);
    }
  });
});
