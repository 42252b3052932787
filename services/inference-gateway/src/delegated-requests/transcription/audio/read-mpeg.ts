import type { ByteQueue, Step } from './byte-queue.ts';
import type { FrameCount } from './codec-packets.ts';

const SYNC = 0xff;
const HEADER_BYTES = 7;
/** Bits of the first four bytes that all frames of a recording share: version, layer and sample rate. */
const VERSION_1 = 3;
const LAYER_3 = 1;
const LAYER_2 = 2;
const LAYER_1 = 3;
const MPEG_RATES = [44_100, 48_000, 32_000];
const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
/** In kbit/s, from code 1 on. */
const BIT_RATES = {
  version1: {
    [LAYER_1]: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [LAYER_2]: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [LAYER_3]: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  },
  layer1: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  others: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

interface MpegFrame {
  readonly bytes: number;
  readonly samples: number;
  readonly rate: number;
  /** The parts of the header that frames of one recording share. */
  readonly kind: number;
}

/**
 * Counts the frames of an MP3 (MPEG audio) or of AAC in ADTS, wherever they are. Neither the length of a tag nor the number of
 * frames in a header of Xing or Fraunhofer is read. A frame counts if another one follows, or once two in a row were found.
 */
export function* readMpeg(queue: ByteQueue, frames: FrameCount): Step {
  let kind: number | undefined;
  for (;;) {
    yield* queue.find(SYNC);
    const frame = readFrame(yield* queue.peek(HEADER_BYTES));
    if (frame === undefined) {
      queue.skip(1);
      continue;
    }
    const bytes = yield* queue.peek(frame.bytes + HEADER_BYTES);
    const isLast = bytes.length === frame.bytes;
    const isFollowed = isLast || readFrame(bytes.subarray(frame.bytes))?.kind === frame.kind;
    if (!isFollowed && frame.kind !== kind) {
      queue.skip(1);
      continue;
    }
    const isFirst = kind === undefined;
    if (isFollowed) kind = frame.kind;
    if (!isFirst || !hasNoAudio(bytes)) frames.add(frame.samples, frame.rate);
    queue.skip(Math.min(frame.bytes, bytes.length));
  }
}

/** Returns true for a first frame that contains only a header about the others. */
const hasNoAudio = (bytes: Buffer): boolean => /Xing|Info|VBRI/.test(bytes.toString('latin1', 4, 48));

const readFrame = (head: Buffer): MpegFrame | undefined => {
  const [sync, second = 0, third = 0] = head;
  if (sync !== SYNC || (second & 0xe0) !== 0xe0 || head.length < 4) return undefined;
  // Bits that differ between the frames of a recording: CRC, bit rate, padding.
  const kind = (second & 0xfe) * 256 + (third & 0x0c);
  return (second & 0xf6) === 0xf0 ? readAdts(head) : readMpegAudio(second, third, kind);
};

const readMpegAudio = (second: number, third: number, kind: number): MpegFrame | undefined => {
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const code = third >> 4;
  const baseRate = MPEG_RATES[(third >> 2) & 3];
  if (version === 1 || layer === 0 || code === 0 || code === 15 || baseRate === undefined) return undefined;
  const isVersion1 = version === VERSION_1;
  const rate = isVersion1 ? baseRate : baseRate / (version === 2 ? 2 : 4);
  const bitRate = bitRateOf(isVersion1, layer, code) * 1_000;
  const padding = (third >> 1) & 1;
  if (layer === LAYER_1) return { bytes: (Math.floor((12 * bitRate) / rate) + padding) * 4, samples: 384, rate, kind };
  const samples = layer === LAYER_3 && !isVersion1 ? 576 : 1_152;
  return { bytes: Math.floor(((samples / 8) * bitRate) / rate) + padding, samples, rate, kind };
};

const bitRateOf = (isVersion1: boolean, layer: number, code: number): number => {
  const { version1, layer1, others } = BIT_RATES;
  const rates = isVersion1
    ? layer === LAYER_1
      ? version1[LAYER_1]
      : layer === LAYER_2
        ? version1[LAYER_2]
        : version1[LAYER_3]
    : layer === LAYER_1
      ? layer1
      : others;
  return rates[code - 1] ?? 0;
};

const readAdts = (head: Buffer): MpegFrame | undefined => {
  const [, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0, seventh = 0] = head;
  const rate = AAC_RATES[(third >> 2) & 15];
  const bytes = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5);
  if (rate === undefined || bytes < HEADER_BYTES || head.length < HEADER_BYTES) return undefined;
  return { bytes, samples: 1_024 * ((seventh & 3) + 1), rate, kind: (second & 0xf6) * 256 + (third & 0x3c) };
};

/** Returns the sample rate of an AAC by its configuration (ISO/IEC 14496-3 section 1.6.2.1); undefined if it is unusual. */
export const aacRate = (config: Buffer): number | undefined => {
  const [first = 0, second = 0] = config;
  return config.length < 2 || first >> 3 === 31 ? undefined : AAC_RATES[((first & 7) << 1) | (second >> 7)];
};
