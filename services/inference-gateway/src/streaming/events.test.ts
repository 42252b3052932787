import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createEventSplitter, EventTooLongError, eventData } from './index.ts';

const BYTES_MAX = 2 * 1024 * 1024;

const split = (chunks: readonly Buffer[], bytesMax = BYTES_MAX) => {
  const splitter = createEventSplitter(bytesMax);
  const blocks: Buffer[] = [];
  for (const chunk of chunks) splitter.push(chunk, (block) => blocks.push(block));
  const rest = splitter.end();
  const data = blocks.map((block) => eventData(block)?.toString()).filter((text) => text !== undefined);
  return { data, rest, raw: Buffer.concat([...blocks, rest]) };
};

const streams: Record<string, { text: string; data: string[]; rest?: string }> = {
  'line feeds': { text: 'data: {"a":1}\n\ndata: [DONE]\n\n', data: ['{"a":1}', '[DONE]'] },
  'carriage return and line feed': { text: 'data: a\r\n\r\ndata: b\r\n\r\n', data: ['a', 'b'] },
  'carriage returns': { text: 'data: a\r\rdata: b\r\r', data: ['a', 'b'] },
  'mixed line ends': { text: 'data: a\n\r\ndata: b\r\n\ndata: c\r\r\n', data: ['a', 'b', 'c'] },
  'comments and other fields': { text: ': ping\n\nevent: x\nid: 1\ndata: a\nretry: 5\n\n:\n\n', data: ['a'] },
  'several data lines': { text: 'data: one\ndata:two\ndata:\ndata:  three\n\n', data: ['one\ntwo\n\n three'] },
  'data fields without a value': { text: 'data\n\ndata: \n\ndatabase: x\n\ndata: a\ndata\n\n', data: ['a\n'] },
  'text beyond ASCII': { text: 'data: {"t":"åß∂ 日本 🙂"}\n\n', data: ['{"t":"åß∂ 日本 🙂"}'] },
  'many blank lines': { text: '\n\n\ndata: a\n\n\n\ndata: b\n\n', data: ['a', 'b'] },
  'an event that never ends': { text: 'data: a\n\ndata: [DONE]', data: ['a'], rest: 'data: [DONE]' },
  'a byte-order mark': { text: '\uFEFFdata: a\n\n', data: ['a'] },
};

describe('HTML standard §9.2.6: splits a stream into the same events, however its bytes arrive', () => {
  test.each(Object.entries(streams))('%s', (_name, { text, data, rest = '' }) => {
    const bytes = Buffer.from(text);
    const cuts: Buffer[][] = [[bytes], [...bytes].map((byte) => Buffer.of(byte))];
    for (let at = 1; at < bytes.length; at += 1) cuts.push([bytes.subarray(0, at), bytes.subarray(at)]);
    for (const chunks of cuts) {
      const result = split(chunks);
      expect(result.data).toEqual(data);
      expect(result.raw.equals(bytes)).toBe(true);
      if (!text.endsWith('\r\n')) expect(result.rest.toString()).toBe(rest);
    }
  });

  test('passes any bytes in any pieces through unchanged, with the same events', () => {
    const piece = fc.constantFrom('data: x', 'data:', ':', '\n', '\r', '\r\n', 'é🙂', '{"a":1}');
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.integer({ min: 1, max: 5 })), (parts, sizes) => {
        const bytes = Buffer.from(parts.join(''));
        const chunks: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? bytes.length;
          chunks.push(bytes.subarray(at, at + size));
          at += size;
        }
        const cut = split(chunks);
        expect(cut.data).toEqual(split([bytes]).data);
        expect(cut.raw.equals(bytes)).toBe(true);
      }),
    );
  });
});

describe('limits', () => {
  test('accepts an event of 1 MiB in small pieces', () => {
    const bytes = Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\n\n`);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 100) chunks.push(bytes.subarray(at, at + 100));
    expect(split(chunks).data[0]?.length).toBe(1024 * 1024);
  });

  test('throws for an event beyond the limit', () => {
    const chunk = Buffer.from('x'.repeat(60));
    expect(() => split([chunk, chunk], 100)).toThrow(EventTooLongError);
  });

  test('never overwrites an event that it has returned', () => {
    const splitter = createEventSplitter(BYTES_MAX);
    const blocks: Buffer[] = [];
    for (const text of ['data: a', 'a\n', '\nda', 'ta: b\n\ndata: c', 'c\n\n', 'data: d\n\n']) {
      splitter.push(Buffer.from(text), (block) => blocks.push(block));
    }
    expect(Buffer.concat(blocks).toString()).toBe('data: aa\n\ndata: b\n\ndata: cc\n\ndata: d\n\n');
  });
});
