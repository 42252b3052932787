import { PUBLIC_MODEL } from '@svc/contracts';
import { JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure.ts';
import { type Chunk, type ChunkDigest, digestChunk, isRecord, readChunk } from '../wire/index.ts';
import { publicDeltas, publicUsage } from './public-members.ts';
import type { PublicIdentity } from './rewrite-completion.ts';

export interface RewriteEventOptions extends PublicIdentity {
  /** True if the caller requested the usage chunk. */
  readonly showsUsage: boolean;
  /** Upper limit of plausible usage. */
  readonly tokensMax: number;
}

/** An event in its public form. */
export interface RewrittenEvent {
  /** Undefined for an event outside the wire format, such as a heartbeat. */
  readonly digest: ChunkDigest | undefined;
  /** Undefined if the caller gets nothing of it. */
  readonly body: Buffer | string | undefined;
}

/** Rewrites an event and calls `onChunk` with its chunk. Throws the errors of `readChunk`. */
export const rewriteEvent = (
  data: Buffer,
  options: RewriteEventOptions,
  onChunk?: (chunk: Chunk) => void,
): RewrittenEvent => {
  const chunk = readChunk(data);
  if (chunk === undefined) return { digest: undefined, body: undefined };
  onChunk?.(chunk);
  return { digest: digestChunk(chunk, options.tokensMax), body: showChunk(chunk, options) };
};

/** Rewrites a large event in a worker. Throws `too_complex` if it exceeds the limits of its shape. */
export const rewriteLargeEvent = (data: Buffer, options: RewriteEventOptions): RewrittenEvent => {
  if (!new JsonShape().push(data)) throw new UpstreamFailure('too_complex');
  const { digest, body } = rewriteEvent(data, options);
  return { digest, body: body === undefined ? undefined : Buffer.from(body) };
};

/** Formats a chunk as an event of the caller's stream. Returns undefined if the caller gets nothing of it. */
export const showChunk = (chunk: Chunk, options: RewriteEventOptions): string | undefined => {
  const { usage, created } = chunk;
  const choices = chunk.choices.filter(isShown);
  // A chunk without choices contains only usage, or data outside the wire format.
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

/** Drops choices with neither delta nor finish reason: they contain provider data, such as the results of a filter. */
const isShown = (choice: unknown): boolean =>
  isRecord(choice) && (isRecord(choice['delta']) || typeof choice['finish_reason'] === 'string');
