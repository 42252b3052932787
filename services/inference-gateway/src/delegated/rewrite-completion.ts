import { PUBLIC_MODEL } from '@svc/contracts';
import { UpstreamFailure } from '../upstream-failure.ts';
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

/** Public id and time of an answer. */
export interface PublicIdentity {
  readonly id: string;
  /** Unix seconds, used if the provider sends none. */
  readonly created: number;
}

/** An answer in its public form, with its usage. */
export interface RewrittenCompletion {
  readonly body: Buffer;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
  /** The provider's names, for the usage record only. */
  readonly upstreamModel: string | null;
  readonly upstreamId: unknown;
}

/**
 * Rewrites a provider's chat completion: replaces model and id, and drops members outside the common wire format. Throws
 * UpstreamFailure if it is not a completion: `failed` if it reports an error, else `garbled`.
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
