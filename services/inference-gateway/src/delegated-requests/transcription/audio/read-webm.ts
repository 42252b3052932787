import type { ByteQueue, Step } from './byte-queue.ts';
import { type FrameCount, OPUS_SAMPLES_PER_SECOND, opusSamples, readVorbisHeader } from './codec-packets.ts';
import { aacRate } from './read-mpeg.ts';

const SEGMENT = 0x18538067;
const TRACKS = 0x1654ae6b;
const TRACK = 0xae;
const AUDIO = 0xe1;
const CLUSTER = 0x1f43b675;
const GROUP = 0xa0;
/** Elements whose children are read. Live recordings do not state their sizes. */
const MASTERS: ReadonlySet<number> = new Set([SEGMENT, TRACKS, TRACK, AUDIO, CLUSTER, GROUP]);
const NUMBER = 0xd7;
const TYPE = 0x83;
const CODEC = 0x86;
const CODEC_PRIVATE = 0x63a2;
const RATE = 0xb5;
const ENCODINGS = 0x6d80;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const TRACK_ELEMENTS: ReadonlySet<number> = new Set([NUMBER, TYPE, CODEC, CODEC_PRIVATE, RATE, ENCODINGS]);
const SOUND = 2;
const ELEMENT_BYTES_MAX = 128;
/** Track number, time, flags, number of frames and two bytes of the first one. */
const BLOCK_HEAD_BYTES = 14;
const LACED = 0x06;
const OPUS_PACKET_SAMPLES_MAX = 5_760;
const TRACKS_MAX = 64;

interface Track {
  number: number;
  isSound: boolean;
  codec: string;
  config: Buffer;
  rate: number;
  /** True if the frames are compressed or encrypted, so that their first bytes are hidden. */
  isEncoded: boolean;
}

/** Counts the frames of the sound tracks of a WebM or Matroska. Neither its duration nor its times are read. */
export function* readWebm(queue: ByteQueue, frames: FrameCount): Step {
  const tracks: Track[] = [];
  for (;;) {
    const id = yield* readVint(queue, false);
    const size = yield* readVint(queue, true);
    if (id === TRACK && tracks.length < TRACKS_MAX) {
      tracks.push({ number: 0, isSound: false, codec: '', config: Buffer.alloc(0), rate: 0, isEncoded: false });
    }
    if (MASTERS.has(id)) continue;
    // Only masters may have an unknown size.
    if (size === Number.POSITIVE_INFINITY) return frames.giveUp();
    const isBlock = id === SIMPLE_BLOCK || id === BLOCK;
    const kept = Math.min(size, isBlock ? BLOCK_HEAD_BYTES : TRACK_ELEMENTS.has(id) ? ELEMENT_BYTES_MAX : 0);
    const bytes = yield* queue.read(kept);
    if (isBlock) countBlock(bytes, tracks, frames);
    else readElement(tracks.at(-1), id, bytes);
    queue.skip(size - kept);
  }
}

/** Reads an id, or a size, which has its length marker removed and is infinite if unknown (RFC 8794 section 4). */
function* readVint(queue: ByteQueue, isSize: boolean): Step<number> {
  const [first = 0] = yield* queue.peek(1);
  const length = Math.clz32(first) - 23;
  // A zero byte starts no element: skips it as a damaged one.
  if (length > 8) {
    queue.skip(1);
    return isSize ? 0 : 0xec;
  }
  const bytes = Buffer.from(yield* queue.read(length));
  if (!isSize) return length > 4 ? 0xec : bytes.readUIntBE(0, length);
  bytes[0] = first & (0xff >> length);
  const value = Number(BigInt(`0x${bytes.toString('hex')}`));
  return value === 2 ** (7 * length) - 1 ? Number.POSITIVE_INFINITY : value;
}

const readElement = (track: Track | undefined, id: number, bytes: Buffer): void => {
  if (track === undefined || bytes.length === 0) return;
  if (id === NUMBER) track.number = unsigned(bytes);
  else if (id === TYPE) track.isSound = unsigned(bytes) === SOUND;
  else if (id === CODEC) track.codec = bytes.toString('latin1').replace(/\0+$/, '');
  else if (id === CODEC_PRIVATE) track.config = Buffer.from(bytes);
  else if (id === RATE && (bytes.length === 4 || bytes.length === 8)) {
    track.rate = bytes.length === 4 ? bytes.readFloatBE() : bytes.readDoubleBE();
  } else if (id === ENCODINGS) track.isEncoded = true;
};

const unsigned = (bytes: Buffer): number => Number(BigInt(`0x${bytes.toString('hex')}`));

const countBlock = (block: Buffer, tracks: readonly Track[], frames: FrameCount): void => {
  const numberBytes = Math.clz32(block[0] ?? 0) - 23;
  const number =
    numberBytes > 4 ? -1 : block.readUIntBE(0, Math.min(numberBytes, block.length)) - 2 ** (7 * numberBytes);
  const track = tracks.find((candidate) => candidate.number === number);
  if (track?.isSound !== true) return;
  const flags = block[numberBytes + 2] ?? 0;
  const isLaced = (flags & LACED) !== 0;
  const count = isLaced ? (block[numberBytes + 3] ?? 0) + 1 : 1;
  const { samples, rate } = frameOf(track, block.subarray(numberBytes + 3), isLaced);
  frames.add(samples * count, rate);
};

/** Returns the samples of a frame and their rate, which is 0 if the codec is not known. */
const frameOf = (track: Track, frame: Buffer, isLaced: boolean): { samples: number; rate: number } => {
  const { codec, config, rate, isEncoded } = track;
  if (isEncoded) return UNKNOWN;
  if (codec === 'A_OPUS') {
    // The sizes of laced frames are not read, so each counts as the longest.
    return { samples: isLaced ? OPUS_PACKET_SAMPLES_MAX : opusSamples(frame), rate: OPUS_SAMPLES_PER_SECOND };
  }
  if (codec.startsWith('A_AAC')) return { samples: 1_024, rate: aacRate(config) ?? rate };
  if (codec === 'A_MPEG/L3') return { samples: rate < 32_000 ? 576 : 1_152, rate };
  const vorbis = codec === 'A_VORBIS' ? readVorbisHeader(config) : undefined;
  return vorbis === undefined ? UNKNOWN : { samples: vorbis.packetSamplesMax, rate: vorbis.rate };
};

const UNKNOWN = { samples: 0, rate: 0 };
