import type { ByteQueue, Step } from './byte-queue.ts';
import type { FrameCount } from './codec-packets.ts';

const SYNC = 0xff;
const STREAMINFO = 0;
const STREAMINFO_BYTES = 34;
/** Sync code, codes, coded number of up to seven bytes, block size, sample rate, CRC. */
const HEADER_BYTES_MAX = 16;
const RATES = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

/** Counts the frames of a FLAC by their headers (RFC 9639 section 9.1). The total number of samples is not read. */
export function* readFlac(queue: ByteQueue, frames: FrameCount): Step {
  yield* queue.read(4);
  let rate = 0;
  for (let isLast = false; !isLast; ) {
    const head = yield* queue.read(4);
    const size = head.readUIntBE(1, 3);
    isLast = (head[0] ?? 0) >= 0x80;
    const isInfo = ((head[0] ?? 0) & 0x7f) === STREAMINFO && size >= STREAMINFO_BYTES;
    if (isInfo) rate = flacRate(yield* queue.read(STREAMINFO_BYTES));
    queue.skip(size - (isInfo ? STREAMINFO_BYTES : 0));
  }
  for (;;) {
    yield* queue.find(SYNC);
    const frame = readFlacFrame(yield* queue.peek(HEADER_BYTES_MAX));
    queue.skip(frame?.headerBytes ?? 1);
    if (frame !== undefined) frames.add(frame.samples, frame.rate || rate);
  }
}

/** Returns the sample rate of a STREAMINFO block. */
export const flacRate = (info: Buffer): number => info.readUIntBE(10, 3) >> 4;

interface FlacFrame {
  readonly headerBytes: number;
  readonly samples: number;
  /** 0 if the rate is that of the STREAMINFO block. */
  readonly rate: number;
}

/** Reads the header of a frame. Returns undefined if there is none, by its reserved bits and its CRC. */
export const readFlacFrame = (bytes: Buffer): FlacFrame | undefined => {
  const [sync, second = 0, codes = 0, channels = 0, number = 0] = bytes;
  if (sync !== SYNC || (second & 0xfe) !== 0xf8 || bytes.length < 6) return undefined;
  const sizeCode = codes >> 4;
  const rateCode = codes & 15;
  if (sizeCode === 0 || rateCode === 15 || channels >> 4 > 10 || (channels & 0x0f) % 2 === 1) return undefined;
  const sizeAt = 4 + codedBytes(number);
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateAt = sizeAt + sizeBytes;
  const rateBytes = rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0;
  const crcAt = rateAt + rateBytes;
  if (crcAt >= bytes.length || crc8(bytes.subarray(0, crcAt)) !== bytes[crcAt]) return undefined;
  const samples = sizeBytes === 0 ? blockSize(sizeCode) : bytes.readUIntBE(sizeAt, sizeBytes) + 1;
  const rate = rateBytes === 0 ? (RATES[rateCode] ?? 0) : bytes.readUIntBE(rateAt, rateBytes) * rateUnit(rateCode);
  return { headerBytes: crcAt + 1, samples, rate };
};

const blockSize = (code: number): number => {
  if (code === 1) return 192;
  return code < 6 ? 576 << (code - 2) : 256 << (code - 8);
};

const rateUnit = (code: number): number => (code === 12 ? 1_000 : code === 13 ? 1 : 10);

/** Returns the length of a number that is coded like a character of UTF-8. */
const codedBytes = (first: number): number => (first < 0xc0 ? 1 : Math.min(7, Math.clz32(~(first << 24))));

/** Polynomial x^8 + x^2 + x + 1. */
const crc8 = (bytes: Buffer): number => {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x80) === 0 ? crc << 1 : ((crc << 1) ^ 0x07) & 0xff;
  }
  return crc;
};
