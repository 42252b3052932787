import { PUBLIC_MODEL } from '@svc/contracts';
import { UpstreamFailure } from '../upstream-failure.ts';
import {
  isRecord,
  MessageDigest,
  outputBytesOf,
  parseRecord,
  type ReportedUsage,
  readMessages,
  readUsage,
  recordableName,
  reportsError,
} from '../wire/index.ts';
import { completeChoices } from './complete-choices.ts';
import { publicUsage } from './public-members.ts';

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
export const rewriteCompletion = (
  body: Buffer,
  { id, created: now, contextTokensMax, digestsMessages }: RewriteCompletionOptions,
): RewrittenCompletion => {
  const answer = parseRecord(body);
  const { choices, created, model } = answer;
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord)) {
    throw new UpstreamFailure(reportsError(answer) ? 'failed' : 'garbled');
  }
  const usage = publicUsage(answer['usage']);
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
    usage: readUsage(answer['usage'], contextTokensMax),
    outputBytes: outputBytesOf(choices),
    contentSha256: digest?.value(),
    upstreamModel: recordableName(model),
    upstreamId: recordableName(answer['id']),
  };
};
