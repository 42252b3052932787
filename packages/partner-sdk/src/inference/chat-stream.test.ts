import { describe, expect, test } from 'vitest';
import { createEventStreamReader } from './chat-stream.ts';

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
  test('reads comments, all three line endings and several data lines, and drops an unfinished event', () => {
    expect(read(SAMPLE)).toEqual(EVENTS);
  });

  test('reads the same events wherever the bytes are split in two', () => {
    for (let cut = 0; cut <= SAMPLE.length; cut += 1) {
      expect(read(SAMPLE.subarray(0, cut), SAMPLE.subarray(cut)), `cut at ${cut}`).toEqual(EVENTS);
    }
  });

  test('reads the same events from pieces of any size, with empty pieces between them', () => {
    for (const size of [1, 2, 3, 5, 7]) {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < SAMPLE.length; at += size) pieces.push(SAMPLE.subarray(at, at + size), new Uint8Array());
      expect(read(...pieces), `pieces of ${size}`).toEqual(EVENTS);
    }
  });

  test('emits an event at its empty line, even if that may be the first half of CRLF', () => {
    const reader = createEventStreamReader();
    expect(reader.push(bytes('data: 1\r\n\r'))).toEqual(['1']);
    expect(reader.push(bytes('\ndata: 2\r\n\r'))).toEqual(['2']);
    expect(reader.push(bytes('\n\n'))).toEqual([]);
  });
});

describe('limits', () => {
  test('throws when an event grows beyond the limit', () => {
    const reader = createEventStreamReader();
    const piece = bytes('x'.repeat(1024 * 1024));
    reader.push(bytes('data: '));
    expect(() => {
      for (let count = 0; count < 9; count += 1) reader.push(piece);
    }).toThrow(RangeError);
  });

  test('does not count comments, which may keep a long stream open', () => {
    const reader = createEventStreamReader();
    const comment = bytes(`: ${'x'.repeat(1024 * 1024)}\n`);
    for (let count = 0; count < 20; count += 1) expect(reader.push(comment)).toEqual([]);
    expect(reader.push(bytes('data: 1\n\n'))).toEqual(['1']);
  });
});
