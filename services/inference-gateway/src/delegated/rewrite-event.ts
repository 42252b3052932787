import { PUBLIC_MODEL } from '@svc/contracts';
import { JsonShape } from '../large-json/index.ts';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import { type Chunk, type ChunkDigest, digestChunk, isRecord, readChunk } from '../wire/index.ts';
import { publicDeltas, publicUsage } from './public-members.ts';
import type { PublicIdentity } from './rewrite-completion.ts';

export interface RewriteEventOptions extends PublicIdentity {
  /** The caller has asked for the usage chunk. */
  readonly showsUsage: boolean;
  /** Bounds the usage that is believed. */
  readonly tokensMax: number;
}

/** An event as the caller may see it. */
export interface RewrittenEvent {
  /** Undefined for something of the provider's own, such as a sign of life. */
  readonly digest: ChunkDigest | undefined;
  /** Undefined if nothing of it is for the caller. */
  readonly body: Buffer | string | undefined;
}

/** Rewrites an event, and calls `onChunk` with the chunk in it. Throws as `readChunk` does. */
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

/** Rewrites a large event in a worker. Throws `too_complex` beyond the bounds of its shape. */
export const rewriteLargeEvent = (data: Buffer, options: RewriteEventOptions): RewrittenEvent => {
  if (!new JsonShape().push(data)) throw new UpstreamFailure('too_complex');
  const { digest, body } = rewriteEvent(data, options);
  return { digest, body: body === undefined ? undefined : Buffer.from(body) };
};

/** Returns the chunk as an event of the caller's stream, or undefined if nothing of it is for the caller. */
export const showChunk = (chunk: Chunk, options: RewriteEventOptions): string | undefined => {
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

/** A choice with neither delta nor end carries something of the provider's own, such as what a filter has found. */
const isShown = (choice: unknown): boolean =>
  isRecord(choice) && (isRecord(choice['delta']) || typeof choice['finish_reason'] === 'string');
