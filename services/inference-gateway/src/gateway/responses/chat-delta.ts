import { UpstreamFailure } from '../../upstream-failure.ts';
import { contentText, createArgumentsReader, isRecord } from '../../wire/index.ts';

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

/**
 * Reads the first choice of a chat answer or chunk, parsed from `bytes`. Throws UpstreamFailure, `unusable`, if it has too
 * many calls.
 */
export const readDelta = (choices: readonly unknown[], bytes: Buffer): ChatDelta => {
  const choice = isRecord(choices[0]) ? choices[0] : {};
  const { delta, message, finish_reason: reason } = choice;
  const part = isRecord(delta) ? delta : isRecord(message) ? message : {};
  const calls: readonly unknown[] = Array.isArray(part['tool_calls']) ? part['tool_calls'] : [];
  if (calls.length > CALLS_MAX) throw new UpstreamFailure('unusable');
  const readArguments = createArgumentsReader(bytes, isRecord(delta) ? 'delta' : 'message');
  return {
    text: contentText(part['content']) ?? '',
    refusal: asText(part['refusal']),
    calls: calls.flatMap((call, place) => {
      if (!isRecord(call)) return [];
      const called = isRecord(call['function']) ? call['function'] : {};
      return [toCall(call, called, place, readArguments(called['arguments'], { choice: 0, call: place }) ?? '')];
    }),
    finishReason: typeof reason === 'string' ? reason : undefined,
  };
};

const toCall = ({ index, id }: Members, called: Members, place: number, args: string): CallDelta => ({
  index: typeof index === 'number' && index >= 0 && index < CALLS_MAX ? index : place,
  id: asText(id),
  name: asText(called['name']),
  arguments: args,
});

type Members = Readonly<Record<string, unknown>>;

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
