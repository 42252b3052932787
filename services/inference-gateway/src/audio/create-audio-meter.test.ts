import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAudioMeter } from './index.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const measure = async (bytes: Buffer, pieceBytes = 1_000): Promise<number | undefined> => {
  const meter = createAudioMeter();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // The caller reuses the buffer, so the meter must not read it later.
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    await meter.push(piece);
    piece.fill(0xff);
  }
  return await meter.measure();
};
/** PCM of 8,000 bytes a second. The header claims `claimedBytes` of data. */
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

describe('measures the length of a recording, however its bytes are split', () => {
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
      // Encoders pad the start and the end with a few frames.
      expect(measured).toBeGreaterThanOrEqual(milliseconds);
      expect(measured).toBeLessThan(milliseconds + 200);
    }
  });

  test('WAV', async () => {
    expect(await measure(wav(2))).toBe(2_000);
  });

  test('WAV without a length, as written to a pipe: uses the number of bytes', async () => {
    expect(await measure(wav(2, 0xffffffff))).toBeGreaterThanOrEqual(2_000);
    expect(await measure(wav(2, 0xffffffff))).toBeLessThan(2_020);
  });
});

describe('returns undefined for a file without a readable length', () => {
  test.each([
    ['an empty file', Buffer.alloc(0)],
    ['noise', Buffer.alloc(50_000, 'a')],
    ['a live recording without a length', fixture('live.webm')],
    ['a chunk that claims almost 4 GiB', Buffer.concat([fixture('a.m4a').subarray(0, 40), wav(0, 0xfffffff0)])],
    [
      'a tag of 200 MB',
      Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0x5f, 0x7f, 0x7f, 0x7f]), Buffer.alloc(60_000)]),
    ],
  ])('%s', async (_name, bytes) => expect(await measure(bytes)).toBeUndefined());

  test('a meter that is stopped during a read', async () => {
    const meter = createAudioMeter();
    await meter.push(fixture('a.ogg').subarray(0, 1_000));
    const reading = meter.push(fixture('a.ogg').subarray(1_000));
    meter.stop();
    await reading;
    await meter.push(fixture('a.ogg'));
    expect(await meter.measure()).toBeUndefined();
  });
});

test('never throws, hangs or returns an absurd length for damaged recordings', async () => {
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
