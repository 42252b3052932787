import { PUBLIC_MODEL } from '@svc/contracts';
import { UpstreamFailure } from '../providers/index.ts';
import {
  isRecord,
  outputBytesOf,
  parseRecord,
  readUsage,
  recordableName,
  type TokenUsage,
  tellsError,
} from '../wire/index.ts';
import { publicChoices, publicUsage } from './public-shape.ts';

/** How an answer names itself to the caller. */
export interface PublicIdentity {
  readonly id: string;
  /** Unix seconds, for a provider that does not say. */
  readonly created: number;
}

/** An answer as the caller may see it, and what it has used. */
export interface RewrittenCompletion {
  readonly body: string;
  /** Undefined where the provider did not say. */
  readonly usage: TokenUsage | undefined;
  readonly outputBytes: number;
  /** As the provider named them; for the record only. */
  readonly upstreamModel: string | null;
  readonly upstreamId: unknown;
}

/**
 * Rewrites a provider's chat completion: the model is `svc`, the id ours, and nothing outside the common wire format is
 * left. Throws UpstreamFailure for what is no completion: `failed` where it tells of an error, else `garbled`.
 */
export const rewriteCompletion = (body: Buffer, identity: PublicIdentity): RewrittenCompletion => {
  const answer = parseRecord(body);
  const choices = answer['choices'];
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord)) {
    throw new UpstreamFailure(tellsError(answer) ? 'failed' : 'garbled');
  }
  const { created, usage, model } = answer;
  const shown = {
    id: identity.id,
    object: 'chat.completion',
    created: Number.isSafeInteger(created) ? created : identity.created,
    model: PUBLIC_MODEL,
    choices: publicChoices(choices),
    ...(isRecord(usage) ? { usage: publicUsage(usage) } : {}),
  };
  return {
    body: JSON.stringify(shown),
    usage: readUsage(usage),
    outputBytes: outputBytesOf(choices),
    upstreamModel: recordableName(model),
    upstreamId: answer['id'],
  };
};
