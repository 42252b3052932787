import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AudioLength, createAudioMeter } from './create-audio-meter.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const measure = async (bytes: Buffer, pieceBytes = 1_000): Promise<AudioLength> => {
  const meter = createAudioMeter();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // The caller reuses the buffer, so the meter must not read it later.
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    await meter.push(piece);
    piece.fill(0xff);
  }
  return meter.measure();
};
const lengthOf = async (bytes: Buffer, pieceBytes?: number): Promise<number> => {
  const length = await measure(bytes, pieceBytes);
  return typeof length === 'object' ? length.milliseconds : Number.NaN;
};
/** Replaces bytes at an offset from a marker. */
const patch = (bytes: Buffer, mark: string | Buffer, offset: number, value: Buffer): Buffer => {
  const at = bytes.indexOf(mark);
  if (at === -1) throw new Error(`the recording lacks ${String(mark)}`);
  const copy = Buffer.from(bytes);
  value.copy(copy, at + offset);
  return copy;
};
/** PCM of 8,000 bytes a second. The header claims `claimedBytes` of data, and a byte rate. */
const wav = (seconds: number, { claimedBytes = seconds * 8_000, byteRate = 8_000, tag = 1, bits = 8 } = {}): Buffer => {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(Math.min(claimedBytes + 36, 0xffffffff), 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(tag, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(byteRate, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36);
  head.writeUInt32LE(claimedBytes, 40);
  return Buffer.concat([head, Buffer.alloc(seconds * 8_000, 0x80)]);
};
const id3 = (size: number): Buffer =>
  Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, (size >> 21) & 127, (size >> 14) & 127, (size >> 7) & 127, size & 127]);
const ONE = Buffer.from([0, 0, 0, 1]);

describe('measures the length of a recording, however its bytes are split', () => {
  test.each([
    ['a.mp3', 3_200],
    ['vbr.mp3', 3_200],
    ['a.ogg', 3_200],
    ['a.m4a', 3_200],
    ['frag.m4a', 3_200],
    ['a.webm', 3_200],
    ['live.webm', 3_200],
    ['a.flac', 200],
  ])('%s', async (name, milliseconds) => {
    const bytes = fixture(name);
    for (const pieceBytes of [1, 977, bytes.length]) {
      const measured = await lengthOf(bytes, pieceBytes);
      // Encoders pad the start and the end with a few frames.
      expect(measured).toBeGreaterThanOrEqual(milliseconds);
      expect(measured).toBeLessThan(milliseconds + 200);
    }
  });

  test.each([
    ['WAV', wav(2), 2_000],
    ['WAV with samples of 16 bits, but blocks of 8', wav(2, { bits: 16 }), 2_000],
    ['WAV in A-law', wav(2, { tag: 6 }), 2_000],
    ['WAV in GSM', wav(13, { tag: 0x31 }), (104_000 / 65) * 40],
    ['AMR', Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(130, 0)]), 200],
  ])('%s', async (_name, bytes, milliseconds) => expect(await lengthOf(bytes)).toBe(milliseconds));
});

describe('believes no length that a file states', () => {
  const flac = fixture('a.flac');
  const mp3 = fixture('a.mp3');
  const m4a = fixture('a.m4a');
  const ogg = fixture('a.ogg');
  const webm = fixture('a.webm');
  const pages = (bytes: Buffer): Buffer => {
    const copy = Buffer.from(bytes);
    for (let at = copy.indexOf('OggS'); at !== -1; at = copy.indexOf('OggS', at + 1)) copy.writeBigInt64LE(1n, at + 6);
    return copy;
  };
  test.each([
    ['WAV with an endless chunk, as written to a pipe', wav(2, { claimedBytes: 0xffffffff }), 2_000],
    ['WAV with a short chunk', wav(2, { claimedBytes: 8 }), 2_000],
    ['WAV with a high byte rate', wav(2, { byteRate: 8_000_000 }), 2_000],
    ['FLAC with one sample in total', patch(flac, 'fLaC', 21, Buffer.from([flac[21] ?? 0, 0, 0, 0, 1])), 200],
    ['MP3 with one frame in its VBR header', patch(mp3, 'Info', 8, ONE), 3_200],
    ['MP3 within the padding of a tag', Buffer.concat([id3(200_000_000), fixture('a.mp3')]), 3_200],
    ['MP3 with junk between its frames', Buffer.concat([fixture('a.mp3'), Buffer.alloc(999), fixture('a.mp3')]), 6_400],
    ['MP4 with a short movie', patch(m4a, 'mvhd', 20, ONE), 3_200],
    ['MP4 with a short track', patch(m4a, 'mdhd', 20, ONE), 3_200],
    ['MP4 with short frames', patch(m4a, 'stts', 16, ONE), 3_200],
    ['Ogg with low positions', pages(ogg), 3_200],
    ['concatenated Ogg', Buffer.concat([ogg, ogg]), 6_400],
    ['WebM with a short duration', patch(webm, Buffer.from([0x44, 0x89]), 3, Buffer.alloc(4)), 3_200],
    ['FLAC behind a tag', Buffer.concat([id3(1_000), Buffer.alloc(1_000), flac]), 200],
  ])('%s', async (_name, bytes, milliseconds) => {
    const measured = await lengthOf(bytes);
    expect(measured).toBeGreaterThanOrEqual(milliseconds);
    expect(measured).toBeLessThan(milliseconds * 1.1 + 60);
  });
});

describe('counts nothing in', () => {
  test.each<[string, Buffer, AudioLength]>([
    ['an empty file', Buffer.alloc(0), 'unknown'],
    ['noise', Buffer.alloc(50_000, 'a'), 'unknown'],
    ['an endless row of sync bytes', Buffer.alloc(3_000_000, 0xff), 'uncounted'],
    ['a tag of 200 MB', Buffer.concat([id3(200_000_000), Buffer.alloc(60_000)]), 'unknown'],
    [
      'a chunk that claims almost 4 GiB',
      Buffer.concat([fixture('a.m4a').subarray(0, 40), wav(0, { claimedBytes: 0xfffffff0 })]),
      'uncounted',
    ],
    ['WAV in an unknown codec', wav(2, { tag: 0x55 }), 'uncounted'],
    ['WebM in an unknown codec', patch(fixture('a.webm'), 'A_OPUS', 0, Buffer.from('A_NEWS')), 'uncounted'],
    ['Ogg in an unknown codec', patch(fixture('a.ogg'), 'OpusHead', 0, Buffer.from('NewsHead')), 'uncounted'],
    ['MP4 in an unknown codec', patch(fixture('a.m4a'), 'mp4a', 0, Buffer.from('news')), 'uncounted'],
    ['an MPEG transport stream', Buffer.from('G@\u0011\u0010'.padEnd(2_000)), 'uncounted'],
  ])('%s', async (_name, bytes, length) => expect(await measure(bytes, 64_000)).toEqual(length));
});

test('never throws, hangs or returns an absurd length for damaged recordings', async () => {
  const names = fc.constantFrom('a.mp3', 'a.ogg', 'a.m4a', 'frag.m4a', 'a.webm', 'a.flac');
  const damage = fc.array(fc.tuple(fc.nat(4_000), fc.nat(255)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(names, damage, fc.nat(9_000), async (name, bytes, length) => {
      const file = Buffer.from(fixture(name).subarray(0, length));
      for (const [at, value] of bytes) if (at < file.length) file[at] = value;
      const measured = await measure(file, 1_500);
      expect(
        typeof measured === 'string' || (measured.milliseconds > 0 && Number.isFinite(measured.milliseconds)),
      ).toBe(true);
    }),
    { numRuns: 200 },
  );
});
