import { PUBLIC_MODEL } from '@svc/contracts';
import { BROKEN_STREAM_ERROR } from '../forwarding/index.ts';
import { DONE, type Edited, type LateResponse, type StreamEditor } from '../streaming/index.ts';
import {
  type CallIndexes,
  type Chunk,
  choiceIndex,
  countChunk,
  createChunkPattern,
  emptyTally,
  isComplete,
  isRecord,
  type MessageDigest,
  recordableName,
  SAMPLE_TEXT,
  type StreamTally,
} from '../wire/index.ts';
import {
  type PublicIdentity,
  type RewriteEventOptions,
  type RewrittenEvent,
  type RewrittenLargeEvent,
  rewriteEvent,
  showChunk,
} from './rewrite-completion.ts';

/** Proof of provenance of a stream, which its editor digests. */
interface PublicStreamProof {
  readonly digest: MessageDigest;
  readonly sign: () => string | undefined;
}

interface ChunkRewriterOptions extends Omit<RewriteEventOptions, 'calls' | 'readsPieces'> {
  /** Set if the caller asks for a proof of provenance. */
  readonly proof: PublicStreamProof | undefined;
  /** Rewrites a large event in a worker. */
  readonly rewriteLarge: (data: Buffer, calls: CallIndexes) => Promise<RewrittenLargeEvent>;
}

const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
const KEEP_ALIVE = ': keep-alive\n\n';
const END = `data: ${DONE}\n\n`;
const SAMPLE_IN_JSON = JSON.stringify(SAMPLE_TEXT).slice(1, -1);
const errorEvent = (error: object): string => `data: ${JSON.stringify({ error })}\n\n`;
const BROKEN = errorEvent(BROKEN_STREAM_ERROR);

/** Formats a last chunk without choices, which adds to the response. */
const finalChunk = ({ id, created }: PublicIdentity, extensions: object): string =>
  `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model: PUBLIC_MODEL, choices: [], extensions })}\n\n`;

/** Starts a stream for an app before its first event: its headers name no provider. */
export const LATE_RESPONSE: LateResponse = {
  headers: () => HEADERS,
  fail: ({ code, publicMessage }) => errorEvent({ code, message: publicMessage }),
};

/** Editor of one stream, with its tally. */
interface ChunkRewriter extends StreamEditor {
  readonly tally: StreamTally;
  /** First id that the provider sent. Recorded only, never shown. */
  readonly upstreamId: () => string | null;
}

/** Creates an editor that rewrites a provider's stream as `rewriteCompletion` does a response, and keeps a tally. */
export const createChunkRewriter = ({ rewriteLarge, proof, ...stream }: ChunkRewriterOptions): ChunkRewriter => {
  let options: RewriteEventOptions = { ...stream, readsPieces: proof !== undefined, calls: new Map() };
  const tally = emptyTally();
  const pattern = createChunkPattern();
  /** Pieces of a rewritten chunk before and after its text, for chunks that match the pattern. */
  let frame: readonly string[] = [];
  /** Index of the choice in chunks that match the pattern. */
  let patternChoice = 0;
  let upstreamId: string | null = null;
  /** The event that opened the response, until it is passed on. */
  let opening: { readonly data: Buffer; readonly event: RewrittenEvent } | undefined;

  const learnFrom =
    (data: Buffer) =>
    (chunk: Chunk): void => {
      const sample = pattern.learn(data, chunk);
      if (sample === undefined) return;
      const [choice] = sample.choices;
      patternChoice = isRecord(choice) ? choiceIndex(choice, 0) : 0;
      frame = showChunk(sample, data, options).body?.split(SAMPLE_IN_JSON) ?? [];
    };
  const open = (data: Buffer, event: RewrittenEvent): typeof HEADERS | undefined => {
    if (event.digest === undefined) return undefined;
    opening = { data, event };
    return HEADERS;
  };

  const show = ({ digest, body, pieces }: RewrittenEvent): Edited => {
    if (digest === undefined) return KEEP_ALIVE;
    countChunk(tally, digest);
    for (const piece of pieces) proof?.digest.add(piece);
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
        proof?.digest.addPlain(patternChoice, text);
        return frame.join(text.toString());
      }
      // No pattern is learnt from the first chunk: it seldom matches the others, and learning would delay the first byte.
      const first = opening?.data === data ? opening.event : undefined;
      opening = undefined;
      return show(first ?? rewriteEvent(data, options, learnFrom(data)));
    },
    readLarge: async (data) => {
      const event = await rewriteLarge(data, options.calls);
      options = { ...options, calls: event.calls };
      return { open: () => open(data, event), edit: () => show(event) };
    },
    isWhole: () => tally.isFinished,
    isWholeDespite: ({ reason }) => reason !== 'failed' && isComplete(tally),
    close: () => {
      const provenance = proof?.sign();
      return provenance === undefined ? END : `${finalChunk(stream, { provenance })}${END}`;
    },
    fail: () => BROKEN,
  };
};
