import fc from 'fast-check';

/** Time for which a property tries new cases. A failure prints its seed. */
export const BOUND = { numRuns: 1_000_000, interruptAfterTimeLimit: 4_000, skipAllAfterTimeLimit: 4_000 } as const;

/** Cuts a stretch of bytes out, overwrites a byte or repeats a stretch. */
const damage = fc.record({
  at: fc.nat(4_000),
  length: fc.integer({ min: 1, max: 40 }),
  kind: fc.constantFrom('cut', 'byte', 'repeat'),
  byte: fc.oneof(fc.nat(255), fc.constantFrom(0x0a, 0x0d, 0x2d, 0x22, 0x7b, 0x3a)),
});

/** Up to three changes, most often none. */
export const damages = fc.oneof(fc.constant([]), fc.array(damage, { maxLength: 3 }));

/** Applies changes to bytes. */
export const damaged = (
  bytes: Buffer,
  changes: readonly (typeof damage extends fc.Arbitrary<infer D> ? D : never)[],
): Buffer => {
  let changed = bytes;
  for (const { at, length, kind, byte } of changes) {
    const start = changed.length === 0 ? 0 : at % changed.length;
    const head = changed.subarray(0, start);
    const tail = changed.subarray(start + length);
    const middle = changed.subarray(start, start + length);
    if (kind === 'cut') changed = Buffer.concat([head, tail]);
    else if (kind === 'byte') changed = Buffer.concat([head, Buffer.of(byte), changed.subarray(start + 1)]);
    else changed = Buffer.concat([head, middle, middle, tail]);
  }
  return changed;
};

/** Lengths of pieces, to be used in turns. */
export const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 300 })), {
  minLength: 1,
  maxLength: 6,
});

/** Splits bytes into pieces of these lengths, in turns. */
export const inPieces = (bytes: Buffer, lengths: readonly number[]): Buffer[] => {
  const pieces: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? bytes.length;
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
};
