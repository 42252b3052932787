import { isRecord } from './json-value.ts';

/** Members of a message or delta with generated text, including those that callers do not see. */
const GENERATED = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const;

/**
 * Counts the bytes of generated text in the choices of an answer or chunk, for chat and legacy completions. Callers are
 * charged by them if the provider reports no usage.
 */
export const outputBytesOf = (choices: readonly unknown[]): number => {
  let bytes = 0;
  for (const choice of choices) {
    if (!isRecord(choice)) continue;
    bytes += textBytes(choice['text']);
    const part = choice['delta'] ?? choice['message'];
    if (!isRecord(part)) continue;
    for (const name of GENERATED) bytes += textBytes(part[name]);
    bytes += toolCallBytes(part['tool_calls']);
  }
  return bytes;
};

const textBytes = (value: unknown): number => (typeof value === 'string' ? Buffer.byteLength(value) : 0);

const toolCallBytes = (calls: unknown): number => {
  if (!Array.isArray(calls)) return 0;
  let bytes = 0;
  for (const call of calls) {
    const called = isRecord(call) ? call['function'] : undefined;
    if (isRecord(called)) bytes += textBytes(called['name']) + textBytes(called['arguments']);
  }
  return bytes;
};
