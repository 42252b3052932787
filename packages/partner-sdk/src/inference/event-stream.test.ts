import { describe, expect, test } from 'vitest';
import { createEventStreamReader } from './event-stream.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const read = (...pieces: Uint8Array[]): string[] => {
  const reader = createEventStreamReader();
  return pieces.flatMap((piece) => reader.push(piece));
};

const SAMPLE = bytes(
  '\uFEFF: a comment\r\n\r\ndata: {"text":"è 🦆 漢"}\r\n\r\nevent: x\rid: 1\rdata:no space\r\rdata: one\ndata: two\n\n\n\ndata\n\ndata: [DONE]\n\ndata: unfinished',
);
const EVENTS = ['{"text":"è 🦆 漢"}', 'no space', 'one\ntwo', '', '[DONE]'];

describe('WHATWG HTML §9.2.6', () => {
  test('reads comments, all three ends of line, several data lines, and drops what is unfinished', () => {
    expect(read(SAMPLE)).toEqual(EVENTS);
  });

  test('reads the same however the bytes are cut in two', () => {
    for (let cut = 0; cut <= SAMPLE.length; cut += 1) {
      expect(read(SAMPLE.subarray(0, cut), SAMPLE.subarray(cut)), `cut at ${cut}`).toEqual(EVENTS);
    }
  });

  test('reads the same in pieces of any size, empty ones between them', () => {
    for (const size of [1, 2, 3, 5, 7]) {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < SAMPLE.length; at += size) pieces.push(SAMPLE.subarray(at, at + size), new Uint8Array());
      expect(read(...pieces), `pieces of ${size}`).toEqual(EVENTS);
    }
  });

  test('gives an event as soon as its empty line has come, also one that may be half of a longer end of line', () => {
    const reader = createEventStreamReader();
    expect(reader.push(bytes('data: 1\r\n\r'))).toEqual(['1']);
    expect(reader.push(bytes('\ndata: 2\r\n\r'))).toEqual(['2']);
    expect(reader.push(bytes('\n\n'))).toEqual([]);
  });
});

describe('limits', () => {
  test('refuses an event without end', () => {
    const reader = createEventStreamReader();
    const piece = bytes('x'.repeat(1024 * 1024));
    reader.push(bytes('data: '));
    expect(() => {
      for (let count = 0; count < 9; count += 1) reader.push(piece);
    }).toThrow(RangeError);
  });

  test('does not count comments, which may keep a long stream alive', () => {
    const reader = createEventStreamReader();
    const comment = bytes(`: ${'x'.repeat(1024 * 1024)}\n`);
    for (let count = 0; count < 20; count += 1) expect(reader.push(comment)).toEqual([]);
    expect(reader.push(bytes('data: 1\n\n'))).toEqual(['1']);
  });
});
