import type { OutgoingHttpHeaders } from 'node:http';
import type { ComplianceMetadata } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { type ComplianceMode, complianceHeadersOf } from '../compliance/index.ts';
import { DONE, type Edited, type StreamEditor } from '../streaming/index.ts';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import { type ChunkDigest, countChunk, createChunkPattern, emptyTally, type StreamTally } from '../wire/index.ts';
import { type EventReading, readEvent } from './read-event.ts';
import { BROKEN_STREAM_ERROR, UNATTRIBUTED_STREAM_ERROR } from './upstream-errors.ts';

export interface ChunkStamperOptions {
  readonly mode: ComplianceMode;
  /** The caller has asked for the usage chunk. Otherwise only the gateway has. */
  readonly showsUsage: boolean;
  /** Bounds the usage that is believed. */
  readonly tokensMax: number;
  /** The provider may send chunks without choices before it names its model. */
  readonly namesModelLate: boolean;
  /** Proves who served the request, from the first chunk. Throws AppError if the proof is incomplete. */
  readonly attribute: (chunk: ChunkDigest) => ComplianceMetadata;
  /** Returns true if the route covers a model that a later chunk names. */
  readonly covers: (model: string) => boolean;
  /** Reads a large event off the event loop. */
  readonly readLarge: (data: Buffer) => Promise<EventReading>;
}

/** An editor of streams, with the counts of one. */
export interface ChunkStamper extends StreamEditor {
  readonly tally: StreamTally;
  readonly metadata: () => ComplianceMetadata | undefined;
}

const CR = 0x0d;
const CRLF = Buffer.from('\r\n');
const END = `data: ${DONE}\n\n`;
const BROKEN = `data: ${JSON.stringify({ error: BROKEN_STREAM_ERROR })}\n\n`;
const UNATTRIBUTED = `data: ${JSON.stringify({ error: UNATTRIBUTED_STREAM_ERROR })}\n\n`;
/** The cause of breaking off a stream whose proof turned out to be wrong. */
const AMBIGUOUS = new AppError('provider_attribution_ambiguous');

/**
 * Passes a provider's events on byte for byte. Metadata goes into the headers and, unless the caller wants the plain body,
 * into a final chunk without choices just before `[DONE]`.
 */
export const createChunkStamper = (options: ChunkStamperOptions): ChunkStamper => {
  const { tokensMax } = options;
  const tally = emptyTally();
  const pattern = createChunkPattern();
  let first: { readonly chunk: ChunkDigest; readonly metadata: ComplianceMetadata } | undefined;
  /** The event that `first` was read from, until it is passed on. */
  let opening: Buffer | undefined;
  /** A chunk may leave the model out, or empty. The one of the first chunk is covered. */
  const namesAnother = ({ model }: ChunkDigest): boolean =>
    typeof model === 'string' && model !== '' && model !== first?.metadata.model && !options.covers(model);
  const show = (block: Buffer, chunk: ChunkDigest): Edited =>
    isUsageAlone(chunk) && !options.showsUsage ? undefined : block;

  const open = (data: Buffer, reading: EventReading): OutgoingHttpHeaders | undefined => {
    if (reading.kind === 'ambiguous') throw AMBIGUOUS;
    if (reading.kind === 'other') return undefined;
    const { digest: chunk } = reading;
    if (options.namesModelLate && isAboutThePrompt(chunk)) return undefined;
    const metadata = options.attribute(chunk);
    first = { chunk, metadata };
    opening = data;
    return {
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
      ...complianceHeadersOf(metadata),
    };
  };

  const edit = (block: Buffer, reading: EventReading): Edited => {
    // Something of the provider's own passes like the rest.
    if (reading.kind === 'other') return block;
    if (reading.kind === 'chunk') countChunk(tally, reading.digest);
    if (reading.kind === 'ambiguous' || namesAnother(reading.digest)) {
      throw new UpstreamFailure('garbled', { cause: AMBIGUOUS });
    }
    return show(block, reading.digest);
  };

  return {
    tally,
    metadata: () => first?.metadata,
    open: (data) => open(data, readEvent(data, { tokensMax })),
    edit: (block, data): Edited => {
      if (data === undefined) return block;
      const text = pattern.textOf(data);
      if (text !== undefined) {
        tally.outputBytes += text.length;
        return block;
      }
      if (data === opening && first !== undefined) {
        opening = undefined;
        return edit(block, { kind: 'chunk', digest: first.chunk });
      }
      // The first chunk is waited for, and seldom like the others: no pattern is learnt from it.
      return edit(
        block,
        readEvent(data, { tokensMax }, (chunk) => void pattern.learn(data, chunk)),
      );
    },
    readLarge: async (data) => {
      const reading = await options.readLarge(data);
      return { open: () => open(data, reading), edit: (block) => edit(block, reading) };
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

/** Completes the provider's `[DONE]`: if its lines end with CRLF, the last LF may still be on its way. */
const withLineEnd = (block: Buffer): Buffer =>
  block.at(-1) === CR && block.includes(CRLF) ? Buffer.concat([block, CRLF.subarray(1)]) : block;

const isAboutThePrompt = ({ choicesCount, model }: ChunkDigest): boolean => choicesCount === 0 && model === '';

/** The chunk that a provider sends only because it was asked for usage. */
const isUsageAlone = ({ choicesCount, hasUsage }: ChunkDigest): boolean => choicesCount === 0 && hasUsage;

const finalChunk = ({ id, object, created, model }: ChunkDigest, metadata: ComplianceMetadata): string =>
  `data: ${JSON.stringify({ id, object, created, model, choices: [], extensions: { compliance_metadata: metadata } })}\n\n`;
