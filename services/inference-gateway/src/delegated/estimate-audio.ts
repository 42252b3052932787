/** 128 kbit/s, as of a common MP3: speech is often recorded with less, and then lasts longer than the guess. */
const BYTES_PER_SECOND = 16_000;

/** 6 kbit/s, the least that codecs of speech use. */
const BYTES_PER_SECOND_MIN = 750;

/** Returns the longest that a recording of this size can last. */
export const boundAudioMs = (bytes: number): number => Math.ceil((bytes * 1000) / BYTES_PER_SECOND_MIN);

/** A fair guess of the length of a recording, by its size alone. */
export const estimateAudioMs = (bytes: number): number => Math.ceil((bytes * 1000) / BYTES_PER_SECOND);
