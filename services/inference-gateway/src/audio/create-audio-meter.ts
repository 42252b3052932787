import type { Readable } from 'node:stream';
import { type IFormat, parseFromTokenizer } from 'music-metadata';
import { fromStream, type ITokenizer } from 'strtok3';
import { BorrowedBuffer } from './borrowed-buffer.ts';

/** Measures the length of a recording while its bytes pass through. */
export interface AudioMeter {
  /** Reads the next bytes of the file. The caller may reuse them once this resolves, and must wait before the next call. */
  readonly push: (bytes: Buffer) => Promise<void>;
  /** Returns the length in milliseconds once all bytes are pushed; undefined if the file does not contain it. */
  readonly measure: () => Promise<number | undefined>;
  readonly stop: () => void;
}

/** Limit of the reader's buffer, regardless of the lengths that a file claims. */
const PIECE_BYTES_MAX = 1024 * 1024;
/** An MP3 of 25,000,000 bytes takes half as many reads. Each costs a few microseconds. */
const READS_MAX = 400_000;
/** No file within the size limit is this long, so a longer one claims a false length. */
const SECONDS_MAX = 1_000_000;

/** Creates a meter for one file. The format is detected from its first bytes. */
export const createAudioMeter = (): AudioMeter => {
  const source = new BorrowedBuffer();
  const giveUp = new AbortController();
  let bytes = 0;
  const stop = (): void => {
    giveUp.abort();
    source.stop();
  };
  // A file that the library cannot parse has no known length.
  const format = readFormat(source, giveUp.signal).catch(() => undefined);
  void format.then(stop);
  return {
    push: (piece) => {
      bytes += piece.length;
      return source.lend(piece);
    },
    measure: async () => {
      source.end();
      return toMs(await format, bytes);
    },
    stop,
  };
};

const readFormat = async (source: BorrowedBuffer, signal: AbortSignal): Promise<IFormat> => {
  // BorrowedBuffer has every member of Readable that the library uses.
  const tokenizer = await fromStream(source as unknown as Readable, {
    maxBufferSize: PIECE_BYTES_MAX,
    abortSignal: signal,
  });
  limitReads(tokenizer);
  let resolveEarly: (format: IFormat) => void = () => {};
  const earlyFormat = new Promise<IFormat>((resolve) => {
    resolveEarly = resolve;
  });
  const parsed = parseFromTokenizer(tokenizer, {
    // Some files need a full read: the length is in the last page, or follows from the number of frames.
    duration: true,
    skipCovers: true,
    observer: ({ metadata: { format } }) => {
      // If the first frame of an MP3 contains the length, its frames need not be counted.
      if (format.container === 'MPEG' && format.duration !== undefined) resolveEarly(format);
    },
  });
  return await Promise.race([earlyFormat, parsed.then(({ format }) => format)]);
};

const limitReads = (tokenizer: ITokenizer): void => {
  let reads = 0;
  const limited =
    <A extends unknown[]>(read: (...args: A) => Promise<number>) =>
    (...args: A): Promise<number> => {
      reads += 1;
      return reads > READS_MAX ? Promise.reject(new RangeError('the file takes too many reads')) : read(...args);
    };
  tokenizer.readBuffer = limited(tokenizer.readBuffer.bind(tokenizer));
  tokenizer.peekBuffer = limited(tokenizer.peekBuffer.bind(tokenizer));
};

const toMs = (format: IFormat | undefined, bytes: number): number | undefined => {
  if (format === undefined) return undefined;
  // A WAV written to a pipe has no valid length in its header, so the number of its bytes is used.
  const bytesSeconds = format.container === 'WAVE' && format.bitrate ? (bytes * 8) / format.bitrate : undefined;
  const seconds = Math.min(format.duration ?? Number.POSITIVE_INFINITY, bytesSeconds ?? Number.POSITIVE_INFINITY);
  return seconds > 0 && seconds <= SECONDS_MAX ? Math.ceil(seconds * 1000) : undefined;
};
