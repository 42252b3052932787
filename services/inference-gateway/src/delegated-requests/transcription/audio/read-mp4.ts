import type { ByteQueue, Step } from './byte-queue.ts';
import type { FrameCount } from './codec-packets.ts';
import { aacRate } from './read-mpeg.ts';

/** Boxes whose children are read. */
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf', 'mvex']);
/** Boxes of which the first bytes are read, and how many. */
const READ_BYTES: Readonly<Record<string, number>> = {
  tkhd: 24,
  hdlr: 12,
  stsd: 4_096,
  stsz: 12,
  stz2: 12,
  tfhd: 8,
  trun: 8,
};
const AAC_SAMPLES = 1_024;
const ALAC_SAMPLES = 4_096;
const RATE_AT = 40;
const MP3_TYPES: ReadonlySet<number | undefined> = new Set([0x69, 0x6b]);
const TRACKS_MAX = 64;

interface Track {
  id: number;
  isSound: boolean;
  /** Samples and sample rate of a frame; undefined if the codec is not known. */
  frame: { readonly samples: number; readonly rate: number } | undefined;
  frames: number;
}

/**
 * Counts the frames of the longest sound track of an MP4 by its tables of sizes, which a decoder follows. The lengths in its
 * headers and its table of times are not read.
 */
export function* readMp4(queue: ByteQueue, frames: FrameCount): Step {
  const tracks: Track[] = [];
  try {
    yield* readBoxes(queue, tracks);
  } finally {
    const lengths = tracks.filter(({ isSound, frames: count }) => isSound && count > 0);
    if (lengths.length === 0 || lengths.some(({ frame }) => frame === undefined)) frames.giveUp();
    const seconds = lengths.map(({ frame, frames: count }) => (count * (frame?.samples ?? 0)) / (frame?.rate || 1));
    frames.add(Math.max(0, ...seconds), 1);
  }
}

function* readBoxes(queue: ByteQueue, tracks: Track[]): Step {
  let current: Track | undefined;
  for (;;) {
    const head = yield* queue.read(8);
    const type = head.toString('latin1', 4, 8);
    let left = head.readUInt32BE(0) - 8;
    if (left === -7) left = Number((yield* queue.read(8)).readBigUInt64BE()) - 16;
    // A size of 0 reaches to the end of the file. Smaller ones are damaged.
    if (left < 0) return;
    if (type === 'trak') {
      current = { id: 0, isSound: false, frame: undefined, frames: 0 };
      if (tracks.length === TRACKS_MAX) return;
      tracks.push(current);
    }
    if (CONTAINERS.has(type)) continue;
    const kept = Math.min(left, READ_BYTES[type] ?? 0);
    const body = yield* queue.read(kept);
    if (type === 'tfhd' && kept >= 8) current = tracks.find(({ id }) => id === body.readUInt32BE(4));
    else if (current !== undefined) readBox(current, type, body);
    queue.skip(left - kept);
  }
}

const readBox = (track: Track, type: string, body: Buffer): void => {
  if (type === 'tkhd' && body.length === 24) track.id = body.readUInt32BE(body[0] === 1 ? 20 : 12);
  else if (type === 'hdlr') track.isSound ||= body.toString('latin1', 8, 12) === 'soun';
  else if (type === 'stsd') track.frame = frameOf(body);
  else if ((type === 'stsz' || type === 'stz2') && body.length === 12) {
    track.frames = Math.max(track.frames, body.readUInt32BE(8));
  } else if (type === 'trun' && body.length === 8) track.frames += body.readUInt32BE(4);
};

/** Reads the codec of the first sample description. */
const frameOf = (description: Buffer): Track['frame'] => {
  if (description.length < RATE_AT + 4) return undefined;
  const type = description.toString('latin1', 12, 16);
  const rate = description.readUInt16BE(RATE_AT);
  if (type === 'alac') return { samples: ALAC_SAMPLES, rate };
  if (type === '.mp3') return mp3Frame(rate);
  if (type !== 'mp4a') return undefined;
  const { objectType, config } = readEsds(description);
  if (MP3_TYPES.has(objectType)) return mp3Frame(rate);
  return objectType === 0x40 ? { samples: AAC_SAMPLES, rate: aacRate(config) ?? rate } : undefined;
};

const mp3Frame = (rate: number): Track['frame'] => ({ samples: rate < 32_000 ? 576 : 1_152, rate });

const TAG_STREAM = 3;
const TAG_DECODER = 4;
const TAG_CONFIG = 5;

/** Finds the object type and configuration of a decoder in an `esds` box (ISO/IEC 14496-1 section 7.2.6). */
const readEsds = (description: Buffer): { objectType: number | undefined; config: Buffer } => {
  let at = description.indexOf('esds', 0, 'latin1') + 8;
  let objectType: number | undefined;
  for (let nesting = 0; at >= 8 && nesting < 4; nesting += 1) {
    const tag = description[at];
    at += 1;
    while ((description[at] ?? 0) >= 0x80) at += 1;
    at += 1;
    if (tag === TAG_CONFIG) return { objectType, config: description.subarray(at, at + 5) };
    if (tag === TAG_DECODER) objectType = description[at];
    if (tag !== TAG_DECODER && tag !== TAG_STREAM) break;
    at += tag === TAG_STREAM ? 3 : 13;
  }
  return { objectType, config: Buffer.alloc(0) };
};
