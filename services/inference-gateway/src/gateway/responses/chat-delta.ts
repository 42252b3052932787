import { UpstreamFailure } from '../../upstream-failure.ts';
import { isRecord } from '../../wire/index.ts';

/** A function call, or a piece of one from a chunk. */
export interface CallDelta {
  readonly index: number;
  /** Empty in later pieces. */
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The parts of a chat message or delta that a response shows. */
export interface ChatDelta {
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly CallDelta[];
  /** Undefined until the message ends. */
  readonly finishReason: string | undefined;
}

/** Limit of calls in one turn. No model makes this many. */
const CALLS_MAX = 1_024;

/** Reads the first choice of a chat answer or chunk. Throws UpstreamFailure, `garbled`, if it has too many calls. */
export const readDelta = (choices: readonly unknown[]): ChatDelta => {
  const choice = isRecord(choices[0]) ? choices[0] : {};
  const { delta, message, finish_reason: reason } = choice;
  const part = isRecord(delta) ? delta : isRecord(message) ? message : {};
  const calls: readonly unknown[] = Array.isArray(part['tool_calls']) ? part['tool_calls'] : [];
  if (calls.length > CALLS_MAX) throw new UpstreamFailure('garbled');
  return {
    text: contentText(part['content']),
    refusal: asText(part['refusal']),
    calls: calls.filter(isRecord).map(toCall),
    finishReason: typeof reason === 'string' ? reason : undefined,
  };
};

const toCall = (call: Record<string, unknown>, place: number): CallDelta => {
  const called = isRecord(call['function']) ? call['function'] : {};
  const { index, id } = call;
  return {
    index: typeof index === 'number' && index >= 0 && index < CALLS_MAX ? index : place,
    id: asText(id),
    name: asText(called['name']),
    arguments: argumentsText(called['arguments']),
  };
};

/** Some providers send the arguments as an object. */
const argumentsText = (value: unknown): string => (isRecord(value) ? JSON.stringify(value) : asText(value));

/** Some providers send content in parts. Only text is shown, not reasoning. */
const contentText = (content: unknown): string => {
  if (!Array.isArray(content)) return asText(content);
  return content
    .filter(isRecord)
    .filter(({ type }) => type === 'text')
    .map(({ text }) => asText(text))
    .join('');
};

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
