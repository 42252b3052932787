export const OPUS_SAMPLES_PER_SECOND = 48_000;
/** RFC 6716 section 3.4: a packet lasts at most 120 ms. */
const PACKET_SAMPLES_MAX = 5_760;
const FRAME_SAMPLES = {
  silk: [480, 960, 1_920, 2_880],
  hybrid: [480, 960],
  celt: [120, 240, 480, 960],
} as const;
const HYBRID_FROM = 12;
const CELT_FROM = 16;

/** Returns the samples of an Opus packet by its first two bytes (RFC 6716 section 3.1); the maximum if they are missing. */
export const opusSamples = (packet: Buffer): number => {
  const [toc, count] = packet;
  if (toc === undefined) return 0;
  const config = toc >> 3;
  const sizes =
    config >= CELT_FROM ? FRAME_SAMPLES.celt : config >= HYBRID_FROM ? FRAME_SAMPLES.hybrid : FRAME_SAMPLES.silk;
  const frame = sizes[config % sizes.length] ?? PACKET_SAMPLES_MAX;
  const code = toc & 3;
  if (code === 3 && count === undefined) return PACKET_SAMPLES_MAX;
  const frames = code === 0 ? 1 : code === 3 ? (count ?? 0) & 63 : 2;
  return Math.min(frame * frames, PACKET_SAMPLES_MAX);
};

/** The parts of a Vorbis identification header that bound the length of its packets. */
export interface VorbisHeader {
  readonly rate: number;
  /** No packet yields more samples: half of the longer block. */
  readonly packetSamplesMax: number;
}

const MARK = Buffer.from('\u0001vorbis', 'latin1');
const RATE_AT = 12;
const BLOCKS_AT = 28;

/** Reads the identification header in these bytes; undefined if there is none. */
export const readVorbisHeader = (bytes: Buffer): VorbisHeader | undefined => {
  const start = bytes.indexOf(MARK);
  const blocks = start === -1 ? undefined : bytes[start + BLOCKS_AT];
  if (blocks === undefined) return undefined;
  return { rate: bytes.readUInt32LE(start + RATE_AT), packetSamplesMax: (1 << (blocks >> 4)) / 2 };
};

/** Length of a recording by its frames. */
export class FrameCount {
  #seconds = 0;
  #isCountable = true;

  /** Adds frames with this number of samples in total. */
  add(samples: number, samplesPerSecond: number): void {
    if (samplesPerSecond > 0) this.#seconds += samples / samplesPerSecond;
    else this.#isCountable = false;
  }

  /** Notes that the recording has frames whose length is unknown. */
  giveUp(): void {
    this.#isCountable = false;
  }

  /** False if some frames have an unknown length. */
  get isCountable(): boolean {
    return this.#isCountable;
  }

  /** Undefined if the recording has no frames, or some whose length is unknown. */
  get milliseconds(): number | undefined {
    return this.#isCountable && this.#seconds > 0 ? Math.ceil(this.#seconds * 1000 - 1e-6) : undefined;
  }
}
