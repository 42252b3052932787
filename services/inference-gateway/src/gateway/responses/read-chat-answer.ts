import { UpstreamFailure } from '../../upstream-failure.ts';
import {
  isRecord,
  outputBytesOf,
  parseRecord,
  type ReportedUsage,
  readUsage,
  recordableName,
  reportsError,
} from '../../wire/index.ts';
import { type ChatDelta, readDelta } from './chat-delta.ts';
import { callItem, incompleteReason, messageItem, refusalPart, textPart } from './output-items.ts';
import { toOwnBuffer } from './own-buffer.ts';

/** A chat completion translated to the output of a response. */
export interface ChatAnswerReading {
  /** The output items, as JSON. */
  readonly body: Buffer;
  readonly incompleteReason: string | undefined;
  /** Null unless it is a short printable string. */
  readonly id: string | null;
  readonly model: string | null;
  readonly usage: ReportedUsage;
  readonly outputBytes: number;
}

/**
 * Reads a provider's chat completion. Throws UpstreamFailure if it is not one: `failed` if it reports an error, else
 * `garbled`.
 */
export const readChatAnswer = (
  bytes: Buffer,
  { tail, contextTokensMax }: { readonly tail: string; readonly contextTokensMax: number },
): ChatAnswerReading => {
  const answer = parseRecord(bytes);
  const { choices, usage, id, model } = answer;
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every(isRecord)) {
    throw new UpstreamFailure(reportsError(answer) ? 'failed' : 'garbled');
  }
  const delta = readDelta(choices);
  return {
    body: toOwnBuffer(JSON.stringify(outputOf(delta, tail))),
    incompleteReason: incompleteReason(delta.finishReason),
    id: recordableName(id),
    model: recordableName(model),
    usage: readUsage(usage, contextTokensMax),
    outputBytes: outputBytesOf(choices),
  };
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
