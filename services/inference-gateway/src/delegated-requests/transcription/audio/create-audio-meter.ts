import { setImmediate as nextTurn } from 'node:timers/promises';
import { ByteQueue, EndOfRecording, type Step } from './byte-queue.ts';
import { FrameCount } from './codec-packets.ts';
import { readFlac } from './read-flac.ts';
import { readMp4 } from './read-mp4.ts';
import { readMpeg } from './read-mpeg.ts';
import { readOgg } from './read-ogg.ts';
import { readWebm } from './read-webm.ts';

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
function* readWav(queue: ByteQueue, frames: FrameCount): Step {
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

const FRAMES_PER_SECOND = 50;
/** Bytes after the first one, by frame type (RFC 4867). */
const NARROW = [12, 13, 15, 17, 19, 20, 26, 31, 5];
const WIDE = [17, 23, 32, 36, 40, 46, 50, 58, 60, 5];

/** Counts the frames of an AMR. */
function* readAmr(queue: ByteQueue, frames: FrameCount): Step {
  const isWide = (yield* queue.peek(9)).toString('latin1') === '#!AMR-WB\n';
  queue.skip(isWide ? 9 : 6);
  for (;;) {
    const [first = 0] = yield* queue.read(1);
    queue.skip((isWide ? WIDE : NARROW)[(first >> 3) & 15] ?? 0);
    frames.add(1, FRAMES_PER_SECOND);
  }
}

/**
 * Length of a recording by its frames. A recording says nothing false with them, unlike with its headers: a decoder decodes
 * them all. `uncounted`: a known format whose frames cannot be counted. `unknown`: no known format.
 */
export type AudioLength = { readonly milliseconds: number } | 'uncounted' | 'unknown';

/** Counts the frames of a recording while its bytes pass through. Nothing is decoded, and each byte is read at most once. */
export interface AudioMeter {
  /** Reads the next bytes of the file. The caller may reuse them once this resolves, and must wait before the next call. */
  readonly push: (bytes: Buffer) => Promise<void>;
  /** Returns the length once all bytes are pushed. */
  readonly measure: () => AudioLength;
}

type Read = (queue: ByteQueue, frames: FrameCount) => Step;

const HEAD_BYTES = 12;
const TAG_HEAD_BYTES = 10;
const SLICE_BYTES = 16 * 1024;
const SLICE_MS_MAX = 2;

/** Creates a meter for one file. The format is detected from its first bytes. */
export const createAudioMeter = (): AudioMeter => {
  let head: Buffer = Buffer.alloc(0);
  let counters: Counter[] | undefined;
  return {
    push: async (bytes) => {
      if (counters !== undefined) return await pushSlices(counters, bytes);
      head = Buffer.concat([head, bytes]);
      if (head.length < HEAD_BYTES) return;
      counters = detectReaders(head).map((read) => new Counter(read));
      await pushSlices(counters, head);
    },
    measure: () => {
      const lengths = (counters ?? []).map((counter) => counter.end());
      const [longest = 0] = lengths.filter((length) => typeof length === 'number').sort((a, b) => b - a);
      if (longest > 0) return { milliseconds: longest };
      return isKnownFormat(head) || lengths.includes('uncounted') ? 'uncounted' : 'unknown';
    },
  };
};

/** Lets other work run between slices that take long: those of a file made to be slow. */
const pushSlices = async (counters: readonly Counter[], bytes: Buffer): Promise<void> => {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    const startedAtMs = performance.now();
    for (const counter of counters) counter.push(bytes.subarray(at, at + SLICE_BYTES));
    if (performance.now() - startedAtMs > SLICE_MS_MAX) await nextTurn();
  }
};

/** Runs one parser over a recording. */
class Counter {
  readonly #queue = new ByteQueue();
  readonly #frames = new FrameCount();
  readonly #step: Step;
  #isDone = false;

  constructor(read: Read) {
    this.#step = read(this.#queue, this.#frames);
  }

  push(bytes: Buffer): void {
    if (this.#isDone) return;
    this.#queue.add(bytes);
    this.#advance();
    this.#queue.keepRest();
  }

  end(): number | 'uncounted' | undefined {
    this.#queue.end();
    this.#advance();
    return this.#frames.milliseconds ?? (this.#frames.isCountable ? undefined : 'uncounted');
  }

  #advance(): void {
    if (this.#isDone) return;
    try {
      this.#isDone = this.#step.next().done === true;
    } catch (error) {
      this.#isDone = true;
      if (!(error instanceof EndOfRecording)) this.#frames.giveUp();
    }
  }
}

/** Returns the parsers for a file. A tag of ID3 may precede any format, and its length may be wrong. */
const detectReaders = (head: Buffer): readonly Read[] => {
  const read = detectContainer(head);
  if (read !== undefined) return [read];
  return head.toString('latin1', 0, 3) === 'ID3' ? [readMpeg, readAfterTag] : [readMpeg];
};

function* readAfterTag(queue: ByteQueue, frames: FrameCount): Step {
  const tag = yield* queue.read(TAG_HEAD_BYTES);
  const size = [...tag.subarray(6)].reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  queue.skip(size);
  const read = detectContainer(yield* queue.peek(HEAD_BYTES));
  if (read !== undefined) yield* read(queue, frames);
}

const detectContainer = (head: Buffer): Read | undefined => {
  const start = head.toString('latin1', 0, 4);
  const type = head.toString('latin1', 4, 8);
  if ((start === 'RIFF' || start === 'RF64') && head.toString('latin1', 8, 12) === 'WAVE') return readWav;
  if (start === 'fLaC') return readFlac;
  if (start === 'OggS') return readOgg;
  if (start === '#!AM') return readAmr;
  if (start === '\u001aE\u00df\u00a3') return readWebm;
  return MP4_STARTS.has(type) ? readMp4 : undefined;
};

const MP4_STARTS: ReadonlySet<string> = new Set(['ftyp', 'moov', 'mdat', 'free', 'skip', 'wide', 'styp', 'moof']);

/** First bytes of formats that are mostly compressed, and whose frames are not counted: ASF, MPEG-TS and -PS, FLV, AVI, CAF. */
const KNOWN_STARTS = [
  '\u0030\u0026\u00b2\u0075',
  'G@',
  '\u0000\u0000\u0001\u00ba',
  'FLV',
  'RIFF',
  'RIFX',
  'caff',
  '.snd',
  'wvpk',
  'MAC ',
];

const isKnownFormat = (head: Buffer): boolean => {
  const start = head.toString('latin1', 0, HEAD_BYTES);
  const isCompressedAiff = start.startsWith('FORM') && start.endsWith('AIFC');
  return (
    detectContainer(head) !== undefined || isCompressedAiff || KNOWN_STARTS.some((known) => start.startsWith(known))
  );
};
