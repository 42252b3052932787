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
