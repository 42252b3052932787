import { UpstreamFailure } from '../../upstream-failure.ts';
import {
  isAmbiguousAnswer,
  isRecord,
  MessageDigest,
  outputBytesOf,
  parseRecord,
  type ReportedUsage,
  readUsage,
  recordableName,
  reportsError,
} from '../../wire/index.ts';
import { type ChatDelta, readDelta } from './chat-delta.ts';
import { callItem, incompleteReason, messageItem, refusalPart, textPart } from './output-items.ts';
import { toOwnBuffer } from './raw-json.ts';

/** A chat completion translated to the output of a response. */
interface ChatAnswerReading {
  /** The output items, as JSON. */
  readonly body: Buffer;
  readonly incompleteReason: string | undefined;
  /** Null unless it is a short printable string. */
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
  /** Digest of the message, if a proof needs it. */
  readonly contentSha256: string | undefined;
  /** True if the provider repeats a member that the gateway reads, or writes one of the gateway's. */
  readonly isAmbiguous: boolean;
}

interface ReadChatAnswerOptions {
  /** Random part of the items' ids. */
  readonly tail: string;
  readonly contextTokensMax: number;
  /** True if a proof needs the digest of the message. */
  readonly digestsMessages: boolean;
}

/**
 * Reads a provider's chat completion. Throws UpstreamFailure if it is not one: `failed` if it reports an error,
 * else `garbled`.
 */
export const readChatAnswer = (
  bytes: Buffer,
  { tail, contextTokensMax, digestsMessages }: ReadChatAnswerOptions,
): ChatAnswerReading => {
  const answer = parseRecord(bytes);
  const { choices, usage, id, model } = answer;
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord)) {
    throw new UpstreamFailure(reportsError(answer) ? 'failed' : 'garbled');
  }
  const delta = readDelta(choices, bytes);
  return {
    body: toOwnBuffer(JSON.stringify(outputOf(delta, tail))),
    incompleteReason: incompleteReason(delta.finishReason),
    id: recordableName(id),
    model: recordableName(model),
    usage: readUsage(usage, contextTokensMax),
    outputBytes: outputBytesOf(choices),
    contentSha256: digestsMessages ? digestOf(delta) : undefined,
    isAmbiguous: isAmbiguousAnswer(bytes),
  };
};

const digestOf = ({ text, refusal, calls }: ChatDelta): string | undefined => {
  const digest = new MessageDigest();
  digest.add({ choice: 0, content: text, refusal, calls: calls.map((call, index) => ({ ...call, index })) });
  return digest.value();
};

const outputOf = ({ text, refusal, calls, finishReason }: ChatDelta, tail: string): object[] => {
  const status = incompleteReason(finishReason) === undefined ? 'completed' : 'incomplete';
  const hasText = text !== '' || (refusal === '' && calls.length === 0);
  const content = [...(hasText ? [textPart(text)] : []), ...(refusal === '' ? [] : [refusalPart(refusal)])];
  const message = content.length === 0 ? [] : [messageItem(`msg_${tail}_0`, status, content)];
  const called = calls.map((call, index) => {
    const name = `${tail}_${message.length + index}`;
    return callItem(`fc_${name}`, status, { ...call, id: call.id || `call_${name}` });
  });
  return [...message, ...called];
};
