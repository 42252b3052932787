import { PUBLIC_MODEL } from '@svc/contracts';
import { UpstreamFailure } from '../upstream-failure/index.ts';
import {
  isRecord,
  outputBytesOf,
  parseRecord,
  type ReportedUsage,
  readUsage,
  recordableName,
  reportsError,
} from '../wire/index.ts';
import { publicChoices, publicUsage } from './public-members.ts';

/** The names by which an answer shows itself to the caller. */
export interface PublicIdentity {
  readonly id: string;
  /** Unix seconds, for a provider that does not say. */
  readonly created: number;
}

/** An answer as the caller may see it, and its usage. */
export interface RewrittenCompletion {
  readonly body: Buffer;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
  /** As the provider named them; for the record only. */
  readonly upstreamModel: string | null;
  readonly upstreamId: unknown;
}

/**
 * Rewrites a provider's chat completion: the model is `svc`, the id ours, and nothing outside the common wire format is
 * left. Throws UpstreamFailure for text that is no completion: `failed` if it reports an error, else `garbled`.
 */
export const rewriteCompletion = (
  body: Buffer,
  { id, created: now, contextTokensMax }: PublicIdentity & { readonly contextTokensMax: number },
): RewrittenCompletion => {
  const answer = parseRecord(body);
  const choices = answer['choices'];
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord)) {
    throw new UpstreamFailure(reportsError(answer) ? 'failed' : 'garbled');
  }
  const { created, usage, model } = answer;
  const shown = {
    id,
    object: 'chat.completion',
    created: Number.isSafeInteger(created) ? created : now,
    model: PUBLIC_MODEL,
    choices: publicChoices(choices),
    ...(isRecord(usage) ? { usage: publicUsage(usage) } : {}),
  };
  return {
    body: Buffer.from(JSON.stringify(shown)),
    usage: readUsage(usage, contextTokensMax),
    outputBytes: outputBytesOf(choices),
    upstreamModel: recordableName(model),
    upstreamId: recordableName(answer['id']),
  };
};
