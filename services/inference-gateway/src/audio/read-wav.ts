import type { ByteQueue, Step } from './byte-queue.ts';
import type { FrameCount } from './frame-count.ts';

const PCM = 1;
const MS_ADPCM = 2;
const FLOAT = 3;
const A_LAW = 6;
const MU_LAW = 7;
const IMA_ADPCM = 0x11;
const GSM = 0x31;
const EXTENSIBLE = 0xfffe;
const FORMAT_BYTES_MAX = 40;

/** A block of encoded bytes, and the samples of one channel in it. */
interface Block {
  readonly bytes: number;
  readonly samples: number;
}

/**
 * Counts the samples of a WAV (RIFF or RF64). All bytes after the head of the `data` chunk count, because its length may be
 * wrong: writers to a pipe do not know it. The byte rate of the header is not read.
 */
export function* readWav(queue: ByteQueue, frames: FrameCount): Step {
  yield* queue.read(12);
  let format: Buffer | undefined;
  for (;;) {
    const head = yield* queue.read(8);
    const id = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    if (id === 'data') break;
    const kept = id === 'fmt ' ? Math.min(size, FORMAT_BYTES_MAX) : 0;
    if (id === 'fmt ') format = Buffer.from(yield* queue.read(kept));
    // Chunks are padded to an even length.
    queue.skip(size - kept + (size % 2));
  }
  const block = format === undefined || format.length < 16 ? undefined : blockOf(format);
  if (format === undefined || block === undefined) return frames.giveUp();
  const bytes = yield* queue.drain();
  frames.add((bytes / block.bytes) * block.samples, format.readUInt32LE(4));
}

const blockOf = (format: Buffer): Block | undefined => {
  const channels = format.readUInt16LE(2);
  const align = format.readUInt16LE(12);
  const bits = format.readUInt16LE(14);
  const tag = format.readUInt16LE(0);
  const codec = tag === EXTENSIBLE && format.length >= 26 ? format.readUInt16LE(24) : tag;
  if (channels === 0) return undefined;
  // The smaller of two contradicting sizes yields the longer recording.
  if (codec === PCM || codec === FLOAT) return fixed(Math.min(channels * Math.ceil(bits / 8), align || Infinity));
  if (codec === A_LAW || codec === MU_LAW) return fixed(channels);
  if (codec === IMA_ADPCM) return adpcm(align, { channels, headerBytes: 4, headerSamples: 1 });
  if (codec === MS_ADPCM) return adpcm(align, { channels, headerBytes: 7, headerSamples: 2 });
  return codec === GSM ? { bytes: 65, samples: 320 } : undefined;
};

const fixed = (bytes: number): Block | undefined => (bytes > 0 ? { bytes, samples: 1 } : undefined);

/** Returns a block of four-bit samples behind a header per channel. */
const adpcm = (
  bytes: number,
  header: { readonly channels: number; readonly headerBytes: number; readonly headerSamples: number },
): Block | undefined => {
  const { channels, headerBytes, headerSamples } = header;
  const rest = bytes - headerBytes * channels;
  return rest > 0 ? { bytes, samples: (rest * 2) / channels + headerSamples } : undefined;
};
