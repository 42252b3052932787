import { PUBLIC_MODEL } from '@svc/contracts';
import { JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import type { CallIndexes } from '../wire/index.ts';
import { type Chunk, type ChunkDigest, digestChunk, type MessagePiece, readChunk, readDeltas } from '../wire/index.ts';
import { completeDeltas } from './complete-choices.ts';
import { publicUsage } from './public-members.ts';
import { type PublicIdentity, rewriteCompletion } from './rewrite-completion.ts';
import { rewriteTranscription } from './rewrite-transcription.ts';

export interface RewriteEventOptions extends PublicIdentity {
  /** True if the caller requested the usage chunk. */
  readonly showsUsage: boolean;
  /** Upper limit of plausible usage. */
  readonly tokensMax: number;
  /** True if a proof needs the pieces of the messages. */
  readonly readsPieces: boolean;
  /** Tool calls of the stream so far. */
  readonly calls: CallIndexes;
}

/** An event in its public form. */
export interface RewrittenEvent {
  /** Undefined for an event outside the wire format, such as a heartbeat. */
  readonly digest: ChunkDigest | undefined;
  /** Undefined if the caller gets nothing of it. */
  readonly body: Buffer | string | undefined;
  /** The pieces of messages that the caller gets. */
  readonly pieces: readonly MessagePiece[];
}

/** Rewrites an event and calls `onChunk` with its chunk. Throws the errors of `readChunk`. */
export const rewriteEvent = (
  data: Buffer,
  options: RewriteEventOptions,
  onChunk?: (chunk: Chunk) => void,
): RewrittenEvent => {
  const chunk = readChunk(data);
  if (chunk === undefined) return { digest: undefined, body: undefined, pieces: [] };
  onChunk?.(chunk);
  const { body, choices } = showChunk(chunk, data, options);
  const pieces = options.readsPieces ? readDeltas(choices) : [];
  return { digest: digestChunk(chunk, options.tokensMax), body, pieces };
};

/** A large event in its public form, with the tool calls of the stream up to it. */
export interface RewrittenLargeEvent extends RewrittenEvent {
  readonly calls: CallIndexes;
}

/** Rewrites a large event in a worker. Throws `too_complex` if it exceeds the limits of its shape. */
export const rewriteLargeEvent = (data: Buffer, options: RewriteEventOptions): RewrittenLargeEvent => {
  if (!new JsonShape().push(data)) throw new UpstreamFailure('too_complex');
  const { body, ...event } = rewriteEvent(data, options);
  return { ...event, body: body === undefined ? undefined : Buffer.from(body), calls: options.calls };
};

/** A chunk as the caller sees it. */
export interface ShownChunk {
  /** Undefined if the caller gets nothing of it. */
  readonly body: string | undefined;
  readonly choices: readonly unknown[];
}

/** Formats a chunk, parsed from `data`, as an event of the caller's stream. */
export const showChunk = (chunk: Chunk, data: Buffer, options: RewriteEventOptions): ShownChunk => {
  const { created } = chunk;
  const usage = options.showsUsage ? publicUsage(chunk.usage) : undefined;
  const choices = completeDeltas(chunk.choices, { bytes: data, id: options.id, calls: options.calls });
  // A chunk without choices contains only usage, or data outside the wire format.
  if (choices.length === 0 && usage === undefined) return { body: undefined, choices };
  const shown = {
    id: options.id,
    object: 'chat.completion.chunk',
    created: Number.isSafeInteger(created) ? created : options.created,
    model: PUBLIC_MODEL,
    choices,
    ...(usage !== undefined ? { usage } : options.showsUsage && chunk.usage === null ? { usage: null } : {}),
  };
  return { body: `data: ${JSON.stringify(shown)}\n\n`, choices };
};

/** Tasks of delegated requests, which run in a worker if their text is large. */
export const delegatedTasks = { rewriteCompletion, rewriteLargeEvent, rewriteTranscription } as const;
