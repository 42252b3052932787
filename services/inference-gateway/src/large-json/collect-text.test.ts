import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinPieces, TextCollector } from './collect-text.ts';
import { JsonShape } from './json-shape.ts';
import { openRequestMemory } from './text-memory.ts';

const BYTES_MAX = 32 * 1024 * 1024;
const open = (announcedBytes: number | undefined, memory = openRequestMemory()) =>
  new TextCollector({ memory, account: 'usr_1', announcedBytes, bytesMax: BYTES_MAX, scan: new JsonShape() });

describe('TextCollector', () => {
  test('joins a text, however it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 8 }), (lengths) => {
        const collector = open(undefined);
        const pieces = lengths.map((length, place) => Buffer.alloc(length, String.fromCharCode(97 + place)));
        // The collector takes ownership of the bytes.
        for (const piece of pieces) collector.push(Buffer.from(piece));
        expect(joinPieces(collector.take()).equals(Buffer.concat(pieces))).toBe(true);
        collector.room.release();
      }),
    );
  });

  test('needs little more memory than the bytes of a text that arrives in tiny pieces', () => {
    const collector = open(undefined);
    for (let count = 0; count < 100_000; count += 1) void collector.push(Buffer.from('x'));
    const { pieces, length } = collector.take();
    expect(length).toBe(100_000);
    expect(pieces.length).toBeLessThan(10);
    expect(pieces.reduce((sum, piece) => sum + piece.length, 0)).toBeLessThan(2 * length);
  });

  test('allocates no memory for bytes that are only announced', () => {
    const before = process.memoryUsage().arrayBuffers;
    const collectors = Array.from({ length: 100 }, () => open(BYTES_MAX));
    for (const collector of collectors) collector.push(Buffer.alloc(1_000));
    for (const collector of collectors) collector.push(Buffer.alloc(1_000));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(BYTES_MAX);
  });

  test('returns the room beyond the end of the text', () => {
    const memory = openRequestMemory();
    const collector = open(undefined, memory);
    collector.push(Buffer.alloc(100_000));
    collector.push(Buffer.alloc(400_000));
    const taken = () => memory.classes.map(({ budget }) => budget.bytesTaken());
    expect(taken()).toEqual([0, BYTES_MAX]);
    collector.take();
    expect(taken()).toEqual([0, 500_000]);
    collector.room.release();
    expect(taken()).toEqual([0, 0]);
  });
});
