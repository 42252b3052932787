import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { type ComplianceMode, complianceHeadersOf } from '../compliance/index.ts';
import { DONE, type Edited, type StreamEditor } from '../streaming/index.ts';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import {
  type Chunk,
  countChunk,
  createChunkPattern,
  emptyTally,
  isRecord,
  readChunk,
  type StreamTally,
  scanAnswer,
} from '../wire/index.ts';
import { BROKEN_STREAM_ERROR, UNATTRIBUTED_STREAM_ERROR } from './upstream-errors.ts';

/** How a stream is stamped. */
export interface ChunkStamperOptions {
  readonly mode: ComplianceMode;
  /** The caller has asked for the usage chunk; otherwise only the gateway has. */
  readonly showsUsage: boolean;
  /** Bounds the usage that is believed. */
  readonly tokensMax: number;
  /** The provider may send chunks without choices before it names its model. */
  readonly namesModelLate: boolean;
  /** Proof of who served the request, from the first chunk. Throws where it is wanting. */
  readonly attribute: (chunk: Chunk) => ComplianceMetadata;
  /** Whether the route covers a model that a later chunk names. */
  readonly covers: (model: string) => boolean;
}

/** An editor of streams, with what it has learnt of one. */
export interface ChunkStamper extends StreamEditor {
  readonly tally: StreamTally;
  readonly metadata: () => ComplianceMetadata | undefined;
}

const CR = 0x0d;
const CRLF = Buffer.from('\r\n');
const END = `data: ${DONE}\n\n`;
const BROKEN = `data: ${JSON.stringify({ error: BROKEN_STREAM_ERROR })}\n\n`;
const UNATTRIBUTED = `data: ${JSON.stringify({ error: UNATTRIBUTED_STREAM_ERROR })}\n\n`;
/** Why a stream is broken off whose proof turned out to be wrong. */
const AMBIGUOUS = new AppError('provider_attribution_ambiguous');

/**
 * Passes a provider's events on byte for byte. Metadata goes into the headers and, unless the caller wants the plain body,
 * into a final chunk without choices just before `[DONE]`.
 */
export const createChunkStamper = (options: ChunkStamperOptions): ChunkStamper => {
  const tally = emptyTally(options.tokensMax);
  const pattern = createChunkPattern();
  let first: { readonly chunk: Chunk; readonly metadata: ComplianceMetadata } | undefined;
  /** The event that `first` was read from, until it is passed on. */
  let opening: Buffer | undefined;
  /** A chunk may leave the model out, or empty; the same as in the first one is known to be covered. */
  const namesAnother = ({ model }: Chunk): boolean =>
    typeof model === 'string' && model !== '' && model !== first?.metadata.model && !options.covers(model);
  return {
    tally,
    metadata: () => first?.metadata,
    open: (data) => {
      if (isAmbiguous(data)) throw AMBIGUOUS;
      const chunk = readChunk(data);
      if (chunk === undefined || (options.namesModelLate && tellsOnlyOfThePrompt(chunk))) return undefined;
      const metadata = options.attribute(chunk);
      first = { chunk, metadata };
      opening = data;
      return {
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
        ...complianceHeadersOf(metadata),
      };
    },
    edit: (block, data): Edited => {
      if (data === undefined) return block;
      const text = pattern.textOf(data);
      if (text !== undefined) {
        tally.outputBytes += text.length;
        return block;
      }
      const isOpening = data === opening;
      if (!isOpening && isAmbiguous(data)) throw new UpstreamFailure('garbled', { cause: AMBIGUOUS });
      const chunk = isOpening ? first?.chunk : readChunk(data);
      // Something of the provider's own passes like the rest.
      if (chunk === undefined) return block;
      countChunk(tally, chunk);
      if (!isOpening && namesAnother(chunk)) throw new UpstreamFailure('garbled', { cause: AMBIGUOUS });
      // The first chunk is waited for, and seldom like the others.
      if (isOpening) opening = undefined;
      else pattern.learn(data, chunk);
      return isUsageAlone(chunk) && !options.showsUsage ? undefined : block;
    },
    isWhole: () => tally.isFinished,
    close: (block) => {
      if (options.mode === 'headers') return block === undefined ? undefined : withLineEnd(block);
      const stamp = first === undefined ? '' : finalChunk(first.chunk, first.metadata);
      return block === undefined ? `${stamp}${END}` : Buffer.concat([Buffer.from(stamp), withLineEnd(block)]);
    },
    fail: ({ cause }) => (cause === AMBIGUOUS ? UNATTRIBUTED : BROKEN),
  };
};

/** The end of the provider's `[DONE]` is not waited for: where its lines end with CRLF, the last LF may still be on its way. */
const withLineEnd = (block: Buffer): Buffer =>
  block.at(-1) === CR && block.includes(CRLF) ? Buffer.concat([block, CRLF.subarray(1)]) : block;

/** Text that is no object is told by `readChunk`. */
const isAmbiguous = (data: Buffer): boolean => {
  try {
    return scanAnswer(data).isAmbiguous;
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) return false;
    throw error;
  }
};

const tellsOnlyOfThePrompt = ({ choices, model }: Chunk): boolean => choices.length === 0 && model === '';

/** The chunk that a provider sends only because it was asked for usage. */
const isUsageAlone = ({ choices, usage }: Chunk): boolean => choices.length === 0 && isRecord(usage);

const finalChunk = ({ id, object, created, model }: Chunk, metadata: ComplianceMetadata): string =>
  `data: ${JSON.stringify({ id, object, created, model, choices: [], extensions: { compliance_metadata: metadata } })}\n\n`;
