import { PUBLIC_MODEL } from '@svc/contracts';
import { UpstreamFailure } from '../providers/index.ts';
import { DONE, type Edited, type StreamEditor } from '../streaming/index.ts';
import { readUsage, type TokenUsage } from '../wire/index.ts';
import { isRecord } from './allow-list.ts';
import { outputBytesOf } from './output-bytes.ts';
import { publicDeltas, publicUsage } from './public-shape.ts';
import { type PublicIdentity, parseRecord } from './rewrite-completion.ts';
import { BROKEN_STREAM_ERROR } from './upstream-errors.ts';

/** What a stream has told so far. */
export interface StreamTally {
  usage: TokenUsage | undefined;
  outputBytes: number;
  upstreamModel: string | null;
  isFinished: boolean;
  firstEventAtMs: number | undefined;
}

/** How chunks are rewritten. */
export interface ChunkRewriterOptions extends PublicIdentity {
  /** The caller has asked for the usage chunk. */
  readonly showsUsage: boolean;
  readonly clock: () => number;
}

const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };
const KEEP_ALIVE = ': keep-alive\n\n';
const END = `data: ${DONE}\n\n`;
const BROKEN = `data: ${JSON.stringify({ error: BROKEN_STREAM_ERROR })}\n\n`;

/** Edits a provider's stream as `rewriteCompletion` does a whole answer, and keeps a tally of what it tells. */
export const createChunkRewriter = (options: ChunkRewriterOptions): StreamEditor & { readonly tally: StreamTally } => {
  const tally: StreamTally = {
    usage: undefined,
    outputBytes: 0,
    upstreamModel: null,
    isFinished: false,
    firstEventAtMs: undefined,
  };
  return {
    tally,
    open: (data) => {
      parseChunk(data);
      tally.firstEventAtMs = options.clock();
      return HEADERS;
    },
    edit: (_block, data): Edited => {
      // A provider's comments keep the connection alive, and may name it.
      if (data === undefined) return KEEP_ALIVE;
      const chunk = parseChunk(data);
      count(chunk, tally);
      return showChunk(chunk, options);
    },
    isWhole: () => tally.isFinished,
    close: () => END,
    fail: () => BROKEN,
  };
};

interface Chunk {
  readonly choices: readonly unknown[];
  readonly usage: unknown;
  readonly created: unknown;
  readonly model: unknown;
}

/** Throws UpstreamFailure: `failed` where the provider tells of an error, `garbled` where it is no chunk. */
const parseChunk = (data: Buffer): Chunk => {
  const record = parseRecord(data);
  const { choices, usage, created, model, error } = record;
  if (error !== undefined && error !== null) throw new UpstreamFailure('failed');
  if (!Array.isArray(choices)) throw new UpstreamFailure('garbled');
  return { choices, usage, created, model };
};

const count = (chunk: Chunk, tally: StreamTally): void => {
  tally.outputBytes += outputBytesOf(chunk.choices, 'delta');
  tally.usage = readUsage(chunk.usage) ?? tally.usage;
  if (tally.upstreamModel === null && typeof chunk.model === 'string') tally.upstreamModel = chunk.model;
  tally.isFinished ||= chunk.choices.some((choice) => isRecord(choice) && typeof choice['finish_reason'] === 'string');
};

const showChunk = (chunk: Chunk, options: ChunkRewriterOptions): Edited => {
  const { choices, usage, created } = chunk;
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
