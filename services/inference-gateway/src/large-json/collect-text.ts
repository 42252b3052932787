import type { IncomingMessage } from 'node:http';
import { INFERENCE_JSON_BYTES_MAX } from '@svc/contracts';
import { AppError, consumeBody, freeBuffer, RequestTimeout } from '@svc/service-kit';
import type { UpstreamResponse } from '../providers/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import { JsonShape } from './json-shape.ts';
import type { TextMemory } from './text-memory.ts';
import { TextRoom, type TextRoomOptions } from './text-memory.ts';

/** Reads a text while it arrives. */
export interface TextScan {
  /** Reads the next bytes, or all of them. Returns false once the text exceeds a limit of its structure. */
  readonly push: (bytes: Buffer, isWhole: boolean) => boolean;
  /** Number of values so far: root, members and elements. */
  readonly values: number;
}

interface TextCollectorOptions extends TextRoomOptions {
  readonly scan: TextScan;
}

/** Each block is as long as all previous ones together, within these limits. */
const BLOCK_BYTES_MIN = 16 * 1024;
const BLOCK_BYTES_MAX = 1024 * 1024;

/** Collects a JSON text while it arrives, within the limits of its shape and of the shared memory. */
export class TextCollector {
  readonly room: TextRoom;
  readonly #bytesMax: number;
  readonly #announcedBytes: number | undefined;
  readonly #scan: TextScan;
  /** First piece, uncopied. Most texts have only one. */
  #first: Buffer | undefined;
  readonly #blocks: Buffer[] = [];
  /** Bytes in the last block. */
  #filled = 0;
  #length = 0;

  constructor(options: TextCollectorOptions) {
    this.#scan = options.scan;
    this.room = new TextRoom(options);
    this.#bytesMax = options.bytesMax;
    this.#announcedBytes = options.announcedBytes;
  }

  /**
   * Takes ownership of the next bytes. Returns `too_complex` if the text exceeds the limits of size or shape, a promise if
   * the caller must wait for room, else undefined.
   */
  push(piece: Buffer): Promise<void> | 'too_complex' | undefined {
    this.#length += piece.length;
    const isWhole = piece.length === this.#announcedBytes;
    if (this.#length > this.#bytesMax || !this.#scan.push(piece, isWhole)) return 'too_complex';
    this.room.advance(piece.length);
    if (this.#first === undefined) this.#first = piece;
    else this.#store(piece);
    return this.room.growTo(this.#length);
  }

  /** Number of bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Returns the whole text. */
  take(): JsonText {
    this.room.endTransit(this.#length);
    const pieces = this.#first === undefined ? [] : [this.#first, ...this.#blocks];
    return { pieces, length: this.#length, values: this.#scan.values };
  }

  #store(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      let block = this.#blocks.at(-1);
      if (block === undefined || this.#filled === block.length) {
        const bytes = Math.min(Math.max(this.#length, BLOCK_BYTES_MIN), BLOCK_BYTES_MAX);
        block = Buffer.allocUnsafeSlow(bytes);
        this.#blocks.push(block);
        this.#filled = 0;
      }
      const copied = piece.copy(block, this.#filled, at);
      this.#filled += copied;
      at += copied;
    }
    freeBuffer(piece);
  }
}

/** Limits of one response, and its reader while it arrives. */
export interface ResponseLimits {
  readonly bytesMax: number;
  readonly scan: TextScan;
}

/** Returns the limits of an ordinary response, which are those of a request. */
export const jsonResponseLimits = (): ResponseLimits => ({ bytesMax: INFERENCE_JSON_BYTES_MAX, scan: new JsonShape() });

/**
 * Reads the JSON response of a provider, which is paused while memory is scarce. Throws UpstreamFailure; `too_complex` if the
 * response exceeds the limits.
 */
export const collectResponse = (
  response: UpstreamResponse,
  owner: TextOwner,
  { bytesMax, scan }: ResponseLimits = jsonResponseLimits(),
): Promise<HeldText> =>
  new Promise((resolve, reject) => {
    const { status } = response;
    const length = Number(response.headers['content-length'] ?? Number.NaN);
    const announcedBytes = Number.isSafeInteger(length) ? length : undefined;
    const collector = new TextCollector({ ...owner, announcedBytes, bytesMax, scan });
    const { room } = collector;
    let granted: Promise<void> | undefined;
    const fail = (error: unknown): void => {
      response.abort();
      room.release();
      reject(error);
    };
    const tooComplex = (bytesRead: number) => new UpstreamFailure('too_complex', { status, bytesRead });
    if (announcedBytes !== undefined && announcedBytes > bytesMax) return fail(tooComplex(announcedBytes));
    response.read({
      onData: (piece) => {
        const pushed = collector.push(piece);
        if (pushed === undefined) return;
        if (pushed === 'too_complex') return fail(tooComplex(collector.length));
        response.pause();
        granted = pushed;
        pushed.then(response.resume, fail);
      },
      onEnd: () => {
        const finish = (): void => resolve({ ...collector.take(), room });
        if (granted === undefined) finish();
        // The last piece may still wait for its memory.
        else granted.then(finish, fail);
      },
      onFailure: fail,
    });
  });

/** A text in memory. It takes up its room until that is released. */
export interface HeldText extends JsonText {
  readonly room: TextRoom;
}

/** The memory that a text uses, and the account whose share it counts against. */
export interface TextOwner {
  readonly memory: TextMemory;
  readonly account: string;
}

/**
 * Reads the JSON body of a request, with backpressure while memory is scarce. Throws `payload_too_large`,
 * `payload_too_complex`, `service_unavailable` if no memory becomes free in time, or `request_timeout` if the caller is so
 * slow that it delays others.
 */
export const readJsonBody = async (req: IncomingMessage, owner: TextOwner): Promise<HeldText> => {
  const announced = req.headers['content-length'];
  const collector = new TextCollector({
    ...owner,
    announcedBytes: announced === undefined ? undefined : Number(announced),
    bytesMax: INFERENCE_JSON_BYTES_MAX,
    scan: new JsonShape(),
  });
  const { room } = collector;
  try {
    await consumeBody(req, {
      bytesMax: INFERENCE_JSON_BYTES_MAX,
      onPieces: (fail) => room.startTransit(() => fail(new RequestTimeout())),
      onChunk: (chunk) => {
        const pushed = collector.push(chunk);
        if (pushed === 'too_complex') throw new AppError('payload_too_complex');
        return pushed;
      },
    });
    return { ...collector.take(), room };
  } catch (error) {
    room.release();
    throw error;
  }
};

/** A JSON text in pieces. */
export interface JsonText {
  /** The last piece may extend beyond the end of the text. */
  readonly pieces: readonly Buffer[];
  readonly length: number;
  /** Number of values: root, members and elements. */
  readonly values: number;
}

/** Wraps a large text. Its values need not be counted: its size alone sends it to a worker. */
export const toText = (bytes: Buffer): JsonText => ({
  pieces: [bytes],
  length: bytes.length,
  values: Number.POSITIVE_INFINITY,
});

/** Joins the pieces of a text. A single piece is not copied. */
export const joinPieces = ({ pieces, length }: Pick<JsonText, 'pieces' | 'length'>): Buffer => {
  const [first] = pieces;
  return pieces.length === 1 && first !== undefined ? first.subarray(0, length) : Buffer.concat(pieces, length);
};
