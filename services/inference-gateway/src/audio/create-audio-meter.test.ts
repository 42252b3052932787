import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAudioMeter } from './index.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const measure = async (bytes: Buffer, pieceBytes = 1_000): Promise<number | undefined> => {
  const meter = createAudioMeter();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // What was lent is used again at once: nothing of it may be read later.
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    await meter.push(piece);
    piece.fill(0xff);
  }
  return await meter.measure();
};
/** PCM of 8,000 bytes a second, with a header that claims so many. */
const wav = (seconds: number, claimedBytes = seconds * 8_000): Buffer => {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(Math.min(claimedBytes + 36, 0xffffffff), 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(claimedBytes, 40);
  return Buffer.concat([head, Buffer.alloc(seconds * 8_000, 0x80)]);
};

describe('the length of a recording, wherever its bytes are cut', () => {
  test.each([
    ['a.mp3', 3_200],
    ['vbr.mp3', 3_200],
    ['a.ogg', 3_200],
    ['a.m4a', 3_200],
    ['frag.m4a', 3_200],
    ['a.webm', 3_200],
    ['a.flac', 200],
  ])('%s', async (name, milliseconds) => {
    const bytes = fixture(name);
    for (const pieceBytes of [1, 977, bytes.length]) {
      const measured = (await measure(bytes, pieceBytes)) ?? 0;
      // Coders pad the start and the end with a few frames.
      expect(measured).toBeGreaterThanOrEqual(milliseconds);
      expect(measured).toBeLessThan(milliseconds + 200);
    }
  });

  test('WAV', async () => {
    expect(await measure(wav(2))).toBe(2_000);
  });

  test('a WAV that was written to a pipe has the length of its bytes', async () => {
    expect(await measure(wav(2, 0xffffffff))).toBeGreaterThanOrEqual(2_000);
    expect(await measure(wav(2, 0xffffffff))).toBeLessThan(2_020);
  });
});

describe('a file that does not tell', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['noise', Buffer.alloc(50_000, 'a')],
    ['a recording without an end to its length', fixture('live.webm')],
    [
      'a piece that claims to be as large as memory',
      Buffer.concat([fixture('a.m4a').subarray(0, 40), wav(0, 0xfffffff0)]),
    ],
    [
      'a tag of 200 MB',
      Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0x5f, 0x7f, 0x7f, 0x7f]), Buffer.alloc(60_000)]),
    ],
  ])('%s', async (_name, bytes) => expect(await measure(bytes)).toBeUndefined());

  test('one that is stopped, while it reads too', async () => {
    const meter = createAudioMeter();
    await meter.push(fixture('a.ogg').subarray(0, 1_000));
    const reading = meter.push(fixture('a.ogg').subarray(1_000));
    meter.stop();
    await reading;
    await meter.push(fixture('a.ogg'));
    expect(await meter.measure()).toBeUndefined();
  });
});

test('damaged recordings never throw, hang or take longer than a file can', async () => {
  const names = fc.constantFrom('a.mp3', 'a.ogg', 'a.m4a', 'a.webm', 'a.flac');
  const damage = fc.array(fc.tuple(fc.nat(4_000), fc.nat(255)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(names, damage, fc.nat(9_000), async (name, bytes, length) => {
      const file = Buffer.from(fixture(name).subarray(0, length));
      for (const [at, value] of bytes) if (at < file.length) file[at] = value;
      const measured = await measure(file, 1_500);
      expect(measured === undefined || (measured > 0 && measured <= 1e9)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
