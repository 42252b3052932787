/** 128 kbit/s, typical of MP3. Speech often has a lower bit rate and then lasts longer than this estimate. */
const BYTES_PER_SECOND = 16_000;

/** 6 kbit/s, the lowest bit rate of speech codecs. */
const BYTES_PER_SECOND_MIN = 750;

/** Returns the maximum length of a recording of this size. */
export const boundAudioMs = (bytes: number): number => Math.ceil((bytes * 1000) / BYTES_PER_SECOND_MIN);

/** Estimates the length of a recording from its size. */
export const estimateAudioMs = (bytes: number): number => Math.ceil((bytes * 1000) / BYTES_PER_SECOND);
