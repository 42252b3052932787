import { either, listOf, objectOf, quantity, scalar } from './allow-list.ts';

const tokenProbability = { token: scalar, logprob: scalar, bytes: listOf(scalar) };
const probabilities = listOf(objectOf({ ...tokenProbability, top_logprobs: listOf(objectOf(tokenProbability)) }));

const toolCall = objectOf({
  index: scalar,
  id: scalar,
  type: scalar,
  function: objectOf({ name: scalar, arguments: scalar }),
  custom: objectOf({ name: scalar, input: scalar }),
});

const message = objectOf({
  role: scalar,
  content: either(scalar, listOf(objectOf({ type: scalar, text: scalar, refusal: scalar }))),
  refusal: scalar,
  tool_calls: listOf(toolCall),
  function_call: objectOf({ name: scalar, arguments: scalar }),
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
  finish_reason: scalar,
};

/** Choices of an answer in the common wire format. */
export const publicChoices = listOf(objectOf({ ...choice, message }));

/** Choices of a chunk. */
export const publicDeltas = listOf(objectOf({ ...choice, delta: message }));

export const publicUsage = objectOf({
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
