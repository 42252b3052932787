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

/** Some providers send content in parts, and reasoning in parts of such a part. */
const PARTS_DEPTH_MAX = 3;

const textBytes = (value: unknown, depth = 0): number => {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (!Array.isArray(value) || depth === PARTS_DEPTH_MAX) return 0;
  let bytes = 0;
  for (const part of value) {
    if (isRecord(part)) bytes += textBytes(part['text'], depth + 1) + textBytes(part['thinking'], depth + 1);
  }
  return bytes;
};

/** Some providers send the arguments as an object. */
const argumentsBytes = (value: unknown): number =>
  isRecord(value) ? Buffer.byteLength(JSON.stringify(value)) : textBytes(value);

const toolCallBytes = (calls: unknown): number => {
  if (!Array.isArray(calls)) return 0;
  let bytes = 0;
  for (const call of calls) {
    const called = isRecord(call) ? call['function'] : undefined;
    if (isRecord(called)) bytes += textBytes(called['name']) + argumentsBytes(called['arguments']);
  }
  return bytes;
};
