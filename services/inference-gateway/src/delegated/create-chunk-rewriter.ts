import { DONE, type Edited, type StreamEditor } from '../streaming/index.ts';
import {
  type Chunk,
  countChunk,
  createChunkPattern,
  emptyTally,
  recordableName,
  SAMPLE_TEXT,
  type StreamTally,
} from '../wire/index.ts';
import { type RewriteEventOptions, type RewrittenEvent, rewriteEvent, showChunk } from './rewrite-event.ts';
import { BROKEN_STREAM_ERROR } from './upstream-errors.ts';

export interface ChunkRewriterOptions extends RewriteEventOptions {
  /** Rewrites a large event in a worker. */
  readonly rewriteLarge: (data: Buffer) => Promise<RewrittenEvent>;
}

const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
const KEEP_ALIVE = ': keep-alive\n\n';
const END = `data: ${DONE}\n\n`;
const SAMPLE_IN_JSON = JSON.stringify(SAMPLE_TEXT).slice(1, -1);
const BROKEN = `data: ${JSON.stringify({ error: BROKEN_STREAM_ERROR })}\n\n`;

/** Editor of one stream, with its tally. */
export interface ChunkRewriter extends StreamEditor {
  readonly tally: StreamTally;
  /** First id that the provider sent. Recorded only, never shown. */
  readonly upstreamId: () => string | null;
}

/** Creates an editor that rewrites a provider's stream as `rewriteCompletion` does an answer, and keeps a tally. */
export const createChunkRewriter = (options: ChunkRewriterOptions): ChunkRewriter => {
  const tally = emptyTally();
  const pattern = createChunkPattern();
  /** Pieces of a rewritten chunk before and after its text, for chunks that match the pattern. */
  let frame: readonly string[] = [];
  let upstreamId: string | null = null;
  /** The event that opened the answer, until it is passed on. */
  let opening: { readonly data: Buffer; readonly event: RewrittenEvent } | undefined;

  const learnFrom =
    (data: Buffer) =>
    (chunk: Chunk): void => {
      const sample = pattern.learn(data, chunk);
      if (sample !== undefined) frame = showChunk(sample, options)?.split(SAMPLE_IN_JSON) ?? [];
    };
  const open = (data: Buffer, event: RewrittenEvent): typeof HEADERS | undefined => {
    if (event.digest === undefined) return undefined;
    opening = { data, event };
    return HEADERS;
  };

  const show = ({ digest, body }: RewrittenEvent): Edited => {
    if (digest === undefined) return KEEP_ALIVE;
    countChunk(tally, digest);
    upstreamId ??= recordableName(digest.id);
    return body;
  };

  return {
    tally,
    upstreamId: () => upstreamId,
    open: (data) => open(data, rewriteEvent(data, options)),
    edit: (_block, data): Edited => {
      // Comments keep the connection alive. They are replaced because they may name the provider.
      if (data === undefined) return KEEP_ALIVE;
      const text = pattern.textOf(data);
      if (text !== undefined) {
        tally.outputBytes += text.length;
        return frame.join(text.toString());
      }
      // No pattern is learnt from the first chunk: it seldom matches the others, and learning would delay the first byte.
      const first = opening?.data === data ? opening.event : undefined;
      opening = undefined;
      return show(first ?? rewriteEvent(data, options, learnFrom(data)));
    },
    readLarge: async (data) => {
      const event = await options.rewriteLarge(data);
      return { open: () => open(data, event), edit: () => show(event) };
    },
    isWhole: () => tally.isFinished,
    close: () => END,
    fail: () => BROKEN,
  };
};
