import { PUBLIC_MODEL } from '@svc/contracts';
import { JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import {
  type CallIndexes,
  type Chunk,
  type ChunkDigest,
  digestChunk,
  isRecord,
  MessageDigest,
  type MessagePiece,
  outputBytesOf,
  parseRecord,
  type ReportedUsage,
  readChunk,
  readDeltas,
  readMessages,
  readUsage,
  recordableName,
  reportsError,
} from '../wire/index.ts';
import { completeChoices, completeDeltas } from './complete-choices.ts';
import { publicUsage } from './public-members.ts';
import { rewriteTranscription } from './transcription/rewrite-transcription.ts';

/** Public id and time of a response. */
export interface PublicIdentity {
  readonly id: string;
  /** Unix seconds, used if the provider sends none. */
  readonly created: number;
}

/** A response in its public form, with its usage. */
interface RewrittenCompletion {
  readonly body: Buffer;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
  /** Digest of the messages, if a proof needs it. */
  readonly contentSha256: string | undefined;
  /** The provider's names, for the usage record only. */
  readonly upstreamModel: string | null;
  readonly upstreamId: unknown;
}

interface RewriteCompletionOptions extends PublicIdentity {
  readonly contextTokensMax: number;
  /** True if a proof needs the digest of the messages. */
  readonly digestsMessages: boolean;
}

/**
 * Rewrites a provider's chat completion: replaces model and id, completes what our contract requires, and drops members
 * outside the common wire format. Throws UpstreamFailure: `failed` if it reports an error, `garbled` if it is no
 * completion, `unusable` if it cannot be completed.
 */
const rewriteCompletion = (
  body: Buffer,
  { id, created: now, contextTokensMax, digestsMessages }: RewriteCompletionOptions,
): RewrittenCompletion => {
  const response = parseRecord(body);
  const { choices, created, model } = response;
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord)) {
    throw new UpstreamFailure(reportsError(response) ? 'failed' : 'garbled');
  }
  const usage = publicUsage(response['usage']);
  const shown = {
    id,
    object: 'chat.completion',
    created: Number.isSafeInteger(created) ? created : now,
    model: PUBLIC_MODEL,
    choices: completeChoices(choices, { bytes: body, id }),
    ...(usage === undefined ? {} : { usage }),
  };
  const digest = digestsMessages ? new MessageDigest() : undefined;
  for (const message of digest ? readMessages(shown.choices) : []) digest?.add(message);
  return {
    body: Buffer.from(JSON.stringify(shown)),
    usage: readUsage(response['usage'], contextTokensMax),
    outputBytes: outputBytesOf(choices),
    contentSha256: digest?.value(),
    upstreamModel: recordableName(model),
    upstreamId: recordableName(response['id']),
  };
};

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
interface ShownChunk {
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
