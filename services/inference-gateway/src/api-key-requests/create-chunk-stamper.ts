import type { OutgoingHttpHeaders } from 'node:http';
import type { ComplianceMetadata } from '@svc/contracts';
import { DONE, type Edited, type StreamEditor } from '../streaming/index.ts';
import {
  type Chunk,
  type ChunkDigest,
  choiceIndex,
  countChunk,
  createChunkPattern,
  emptyTally,
  isComplete,
  isRecord,
  type StreamTally,
} from '../wire/index.ts';
import { AMBIGUOUS, type Attribution, ambiguousFailure, type StreamProof } from './attribution.ts';
import { type ComplianceMode, complianceHeadersOf } from './compliance.ts';
import { BROKEN_STREAM, type StreamError, toStreamError, UNATTRIBUTED_STREAM } from './failure-response.ts';
import { type EventReading, readEvent } from './read-response.ts';

interface ChunkStamperOptions {
  readonly mode: ComplianceMode;
  /** True if the caller requested the usage chunk. The gateway always requests it. */
  readonly showsUsage: boolean;
  /** Upper limit of plausible usage. */
  readonly tokensMax: number;
  readonly attribution: Attribution;
  /** Set if the caller asks for a proof of provenance. */
  readonly proof: StreamProof | undefined;
  /** Reads a large event in a worker. */
  readonly readLarge: (data: Buffer) => Promise<EventReading>;
}

/** Editor of one stream, with its tally. */
interface ChunkStamper extends StreamEditor {
  readonly tally: StreamTally;
  readonly metadata: () => ComplianceMetadata | undefined;
}

type ChunkReading = Extract<EventReading, { readonly kind: 'chunk' }>;

const CR = 0x0d;
const CRLF = Buffer.from('\r\n');
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
const END = `data: ${DONE}\n\n`;
const errorEvent = (error: StreamError): string => `data: ${JSON.stringify({ error })}\n\n`;
const BROKEN = errorEvent(BROKEN_STREAM);
const UNATTRIBUTED = errorEvent(UNATTRIBUTED_STREAM);

/**
 * Creates an editor that passes events through byte for byte. It adds metadata to the headers and, in mode `full`, sends a
 * final chunk without choices before `[DONE]`.
 */
export const createChunkStamper = (options: ChunkStamperOptions): ChunkStamper => {
  const { attribution, proof } = options;
  const reads = { tokensMax: options.tokensMax, readsPieces: proof !== undefined };
  const tally = emptyTally();
  const pattern = createChunkPattern();
  /** Index of the choice in chunks that match the pattern. */
  let patternChoice = 0;
  let first: { readonly reading: ChunkReading; readonly metadata: ComplianceMetadata } | undefined;
  /** The event of `first`, until it is passed on. */
  let opening: Buffer | undefined;
  const show = (block: Buffer, chunk: ChunkDigest): Edited =>
    isUsageAlone(chunk) && !options.showsUsage ? undefined : block;

  const learnFrom =
    (data: Buffer) =>
    (chunk: Chunk): void => {
      const [choice] = chunk.choices;
      if (pattern.learn(data, chunk) !== undefined && isRecord(choice)) patternChoice = choiceIndex(choice, 0);
    };
  const open = (data: Buffer, reading: EventReading): OutgoingHttpHeaders | undefined => {
    if (reading.kind === 'ambiguous') throw AMBIGUOUS;
    if (reading.kind === 'other') return undefined;
    const { digest: chunk } = reading;
    const metadata = attribution.open(chunk);
    if (metadata === undefined) return undefined;
    first = { reading, metadata };
    opening = data;
    return headersOf(metadata);
  };

  const edit = (block: Buffer, reading: EventReading): Edited => {
    // Events outside the wire format pass through too.
    if (reading.kind === 'other') return block;
    if (reading.kind === 'chunk') countChunk(tally, reading.digest);
    if (reading.kind === 'ambiguous') throw ambiguousFailure();
    attribution.check(reading.digest);
    for (const piece of reading.pieces) proof?.digest.add(piece);
    return show(block, reading.digest);
  };

  return {
    tally,
    metadata: attribution.metadata,
    late: {
      headers: () => {
        const metadata = attribution.openLate();
        return metadata && headersOf(metadata);
      },
      fail: (error) => errorEvent(toStreamError(error)),
    },
    open: (data) => open(data, readEvent(data, reads)),
    edit: (block, data): Edited => {
      if (data === undefined) return block;
      const text = pattern.textOf(data);
      if (text !== undefined) {
        tally.outputBytes += text.length;
        proof?.digest.addPlain(patternChoice, text);
        return block;
      }
      if (data === opening && first !== undefined) {
        opening = undefined;
        return edit(block, first.reading);
      }
      // No pattern is learnt from the first chunk: it seldom matches the others, and learning would delay the first byte.
      return edit(block, readEvent(data, reads, learnFrom(data)));
    },
    readLarge: async (data) => {
      const reading = await options.readLarge(data);
      return { open: () => open(data, reading), edit: (block) => edit(block, reading) };
    },
    isWhole: () => tally.isFinished,
    isWholeDespite: (failure) => failure.reason !== 'failed' && !attribution.isAmbiguous(failure) && isComplete(tally),
    close: (block) => {
      if (options.mode === 'headers') return block === undefined ? undefined : withLineEnd(block);
      const stamp =
        first === undefined
          ? ''
          : finalChunk(first.reading.digest, {
              compliance_metadata: first.metadata,
              provenance: proof?.sign(first.metadata),
            });
      return block === undefined ? `${stamp}${END}` : Buffer.concat([Buffer.from(stamp), withLineEnd(block)]);
    },
    fail: (failure) => (attribution.isAmbiguous(failure) ? UNATTRIBUTED : BROKEN),
  };
};

const headersOf = (metadata: ComplianceMetadata): OutgoingHttpHeaders => ({
  ...HEADERS,
  ...complianceHeadersOf(metadata),
});

/** Completes the provider's `[DONE]`: if lines end with CRLF, the last LF may not have arrived yet. */
const withLineEnd = (block: Buffer): Buffer =>
  block.at(-1) === CR && block.includes(CRLF) ? Buffer.concat([block, CRLF.subarray(1)]) : block;

/** Returns true for the chunk that a provider sends only if usage is requested. */
const isUsageAlone = ({ choicesCount, hasUsage }: ChunkDigest): boolean => choicesCount === 0 && hasUsage;

const finalChunk = ({ id, object, created, model }: ChunkDigest, extensions: object): string =>
  `data: ${JSON.stringify({ id, object, created, model, choices: [], extensions })}\n\n`;
