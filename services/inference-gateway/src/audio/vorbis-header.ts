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
