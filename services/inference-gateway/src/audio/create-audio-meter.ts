import type { Readable } from 'node:stream';
import { type IFormat, parseFromTokenizer } from 'music-metadata';
import { fromStream, type ITokenizer } from 'strtok3';
import { LentBytes } from './lent-bytes.ts';

/** Learns how long a recording is while its bytes go by. */
export interface AudioMeter {
  /** Takes the next bytes of the file, after those before were read. Resolves once they are read: they are free then. */
  readonly push: (bytes: Buffer) => Promise<void>;
  /** The length in milliseconds, once all bytes were pushed; undefined where the file does not tell. */
  readonly measure: () => Promise<number | undefined>;
  /** Gives up, as nobody will ask. */
  readonly stop: () => void;
}

/** The largest piece that a file may have the reader hold, whatever lengths it claims. */
const PIECE_BYTES_MAX = 1024 * 1024;
/** An MP3 of 25,000,000 bytes takes half as many; each costs a few microseconds. */
const READS_MAX = 400_000;
/** Far beyond what fits into a file: more is a lie of the file's. */
const SECONDS_MAX = 1_000_000;

/** Creates a meter for one file, of whatever format its first bytes show. */
export const createAudioMeter = (): AudioMeter => {
  const lent = new LentBytes();
  const giveUp = new AbortController();
  let bytes = 0;
  const stop = (): void => {
    giveUp.abort();
    lent.stop();
  };
  // Whatever the library makes of a file that is none, the file does not tell its length.
  const format = readFormat(lent, giveUp.signal).catch(() => undefined);
  void format.then(stop);
  return {
    push: (piece) => {
      bytes += piece.length;
      return lent.lend(piece);
    },
    measure: async () => {
      lent.end();
      return toMs(await format, bytes);
    },
    stop,
  };
};

const readFormat = async (lent: LentBytes, signal: AbortSignal): Promise<IFormat> => {
  // Of a stream, the library uses what this one has.
  const tokenizer = await fromStream(lent as unknown as Readable, {
    maxBufferSize: PIECE_BYTES_MAX,
    abortSignal: signal,
  });
  limitReads(tokenizer);
  let early: (format: IFormat) => void = () => {};
  const toldAtStart = new Promise<IFormat>((resolve) => {
    early = resolve;
  });
  const parsed = parseFromTokenizer(tokenizer, {
    // Some files tell their length only by their last page or by the number of their frames.
    duration: true,
    skipCovers: true,
    observer: ({ metadata: { format } }) => {
      // An MP3 that tells its length in its first frame need not be counted frame by frame.
      if (format.container === 'MPEG' && format.duration !== undefined) early(format);
    },
  });
  return await Promise.race([toldAtStart, parsed.then(({ format }) => format)]);
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
  // A WAV that was written to a pipe claims to be endless, or does not say: its bytes do.
  const ofBytes = format.container === 'WAVE' && format.bitrate ? (bytes * 8) / format.bitrate : undefined;
  const seconds = Math.min(format.duration ?? Number.POSITIVE_INFINITY, ofBytes ?? Number.POSITIVE_INFINITY);
  return seconds > 0 && seconds <= SECONDS_MAX ? Math.ceil(seconds * 1000) : undefined;
};
