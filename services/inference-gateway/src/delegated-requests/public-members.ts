import { isRecord, isSet } from '../wire/index.ts';

/** Returns the allowed part of a value, or undefined if nothing is allowed. */
type Allow = (value: unknown) => unknown;

/** Allows a string, number, boolean or null. */
export const scalar: Allow = (value) => (typeof value === 'object' && value !== null ? undefined : value);

/** Allows a string or null. */
const text: Allow = (value) => (typeof value === 'string' || value === null ? value : undefined);

/** Allows a number that is not negative, or null. */
export const quantity: Allow = (value) =>
  value === null || (typeof value === 'number' && value >= 0) ? value : undefined;

/** Allows an object, reduced to these members, or null. */
export const objectOf = (members: Readonly<Record<string, Allow>>): Allow => {
  const entries = Object.entries(members);
  return (value) => {
    if (value === null) return null;
    if (!isRecord(value)) return undefined;
    const copy: Record<string, unknown> = {};
    for (const [name, allow] of entries) {
      const member = value[name];
      if (member === undefined) continue;
      const allowed = allow(member);
      if (allowed !== undefined) copy[name] = allowed;
    }
    return copy;
  };
};

/** Allows a list, reduced to the allowed items, or null. */
export const listOf =
  (allow: Allow): Allow =>
  (value) => {
    if (value === null) return null;
    return Array.isArray(value) ? value.map(allow).filter((item) => item !== undefined) : undefined;
  };

const tokenProbability = { token: scalar, logprob: scalar, bytes: listOf(scalar) };
const probabilities = listOf(objectOf({ ...tokenProbability, top_logprobs: listOf(objectOf(tokenProbability)) }));

const toolCall = objectOf({
  index: scalar,
  id: text,
  type: text,
  function: objectOf({ name: text, arguments: text }),
  custom: objectOf({ name: text, input: text }),
});

const message = objectOf({
  role: text,
  content: text,
  refusal: text,
  tool_calls: listOf(toolCall),
  function_call: objectOf({ name: text, arguments: text }),
  annotations: listOf(
    objectOf({
      type: scalar,
      url_citation: objectOf({ start_index: scalar, end_index: scalar, title: scalar, url: scalar }),
    }),
  ),
});

const choice = {
  index: scalar,
  logprobs: objectOf({ content: probabilities, refusal: probabilities }),
  finish_reason: text,
};

/** Reduces a completed choice of a response to the common wire format. */
export const publicChoice = objectOf({ ...choice, message });

/** Reduces a completed choice of a chunk. */
export const publicDelta = objectOf({ ...choice, delta: message });

const usageMembers = objectOf({
  prompt_tokens: quantity,
  completion_tokens: quantity,
  total_tokens: quantity,
  prompt_tokens_details: objectOf({ cached_tokens: quantity, audio_tokens: quantity }),
  completion_tokens_details: objectOf({
    reasoning_tokens: quantity,
    audio_tokens: quantity,
    accepted_prediction_tokens: quantity,
    rejected_prediction_tokens: quantity,
  }),
});

/** Returns the usage with the counts that our contract requires; undefined if one of them is wrong, or neither given nor implied. */
export const publicUsage = (usage: unknown): object | undefined => {
  if (!isRecord(usage)) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  if (![prompt, completion, total].every((count) => !isSet(count) || isCount(count))) return undefined;
  const output = isCount(completion) ? completion : 0;
  const input = isCount(prompt) ? prompt : isCount(total) ? total - output : -1;
  if (input < 0) return undefined;
  const shown = {
    ...usage,
    prompt_tokens: input,
    completion_tokens: isCount(completion) ? completion : undefined,
    total_tokens: isCount(total) ? total : input + output,
  };
  // An object allows an object.
  return usageMembers(shown) as object;
};

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
