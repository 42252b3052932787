import { PUBLIC_MODEL } from '@svc/contracts';
import { DONE, type Edited, type StreamEditor } from '../streaming/index.ts';
import {
  type Chunk,
  countChunk,
  createChunkPattern,
  emptyTally,
  isRecord,
  readChunk,
  recordableName,
  SAMPLE_TEXT,
  type StreamTally,
} from '../wire/index.ts';
import { publicDeltas, publicUsage } from './public-members.ts';
import type { PublicIdentity } from './rewrite-completion.ts';
import { BROKEN_STREAM_ERROR } from './upstream-errors.ts';

/** How chunks are rewritten. */
export interface ChunkRewriterOptions extends PublicIdentity {
  /** The caller has asked for the usage chunk. */
  readonly showsUsage: boolean;
  /** Bounds the usage that is believed. */
  readonly tokensMax: number;
}

const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
const KEEP_ALIVE = ': keep-alive\n\n';
const END = `data: ${DONE}\n\n`;
const SAMPLE_IN_JSON = JSON.stringify(SAMPLE_TEXT).slice(1, -1);
const BROKEN = `data: ${JSON.stringify({ error: BROKEN_STREAM_ERROR })}\n\n`;

/** An editor of streams, with what it has learnt of one. */
export interface ChunkRewriter extends StreamEditor {
  readonly tally: StreamTally;
  /** The first id that the provider gave its answer; for the record only. */
  readonly upstreamId: () => string | null;
}

/** Edits a provider's stream as `rewriteCompletion` does a whole answer, and keeps a tally of what it tells. */
export const createChunkRewriter = (options: ChunkRewriterOptions): ChunkRewriter => {
  const tally = emptyTally(options.tokensMax);
  const pattern = createChunkPattern();
  /** What the caller sees of a chunk of the pattern, around its text. */
  let frame: readonly string[] = [];
  let upstreamId: string | null = null;
  /** The event that the answer opens with, and what was read from it, until it is passed on. */
  let opening: { readonly data: Buffer; readonly chunk: Chunk } | undefined;
  return {
    tally,
    upstreamId: () => upstreamId,
    open: (data) => {
      const chunk = readChunk(data);
      if (chunk === undefined) return undefined;
      opening = { data, chunk };
      return HEADERS;
    },
    edit: (_block, data): Edited => {
      // A provider's comments keep the connection alive, and may name it.
      if (data === undefined) return KEEP_ALIVE;
      const text = pattern.textOf(data);
      if (text !== undefined) {
        tally.outputBytes += text.length;
        return frame.join(text.toString());
      }
      const first = opening?.data === data ? opening.chunk : undefined;
      const chunk = first ?? readChunk(data);
      // A sign of life that is the provider's own.
      if (chunk === undefined) return KEEP_ALIVE;
      countChunk(tally, chunk);
      // The first chunk is waited for, and seldom like the others.
      const sample = first === undefined ? pattern.learn(data, chunk) : undefined;
      opening = undefined;
      if (sample !== undefined) frame = showChunk(sample, options)?.split(SAMPLE_IN_JSON) ?? [];
      upstreamId ??= recordableName(chunk.id);
      return showChunk(chunk, options);
    },
    isWhole: () => tally.isFinished,
    close: () => END,
    fail: () => BROKEN,
  };
};

/** A choice with neither delta nor end carries something of the provider's own, such as what a filter has found. */
const isShown = (choice: unknown): boolean =>
  isRecord(choice) && (isRecord(choice['delta']) || typeof choice['finish_reason'] === 'string');

const showChunk = (chunk: Chunk, options: ChunkRewriterOptions): string | undefined => {
  const { usage, created } = chunk;
  const choices = chunk.choices.filter(isShown);
  // Without choices a chunk carries only usage, or something of the provider's own.
  const isWorthSending = choices.length > 0 || (options.showsUsage && isRecord(usage));
  if (!isWorthSending) return undefined;
  const shown = {
    id: options.id,
    object: 'chat.completion.chunk',
    created: Number.isSafeInteger(created) ? created : options.created,
    model: PUBLIC_MODEL,
    choices: publicDeltas(choices),
    ...(options.showsUsage && usage !== undefined ? { usage: publicUsage(usage) } : {}),
  };
  return `data: ${JSON.stringify(shown)}\n\n`;
};
