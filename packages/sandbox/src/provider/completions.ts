import { z } from 'zod';
import { readDirectives } from './directives.ts';
import {
  answeredModel,
  type Exchange,
  FINGERPRINT,
  playDirectives,
  readJson,
  sendJson,
  type Usage,
  usageOf,
} from './exchange.ts';
import { type Answer, countTokens, generateAnswer } from './generate-answer.ts';
import { type StreamEvent, streamEvents } from './stream-events.ts';

const completionRequest = z.looseObject({
  model: z.string().min(1),
  prompt: z.union([z.string(), z.array(z.string()).min(1)]),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.number().int().positive().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
});

/** Handles POST /v1/completions (legacy). Several prompts produce several choices. */
export const answerCompletion = async (exchange: Exchange): Promise<void> => {
  const request = await readJson(exchange.req, completionRequest);
  const prompts = typeof request.prompt === 'string' ? [request.prompt] : request.prompt;
  const { directives } = readDirectives(prompts.at(-1) ?? '');
  if (!(await playDirectives(exchange, directives))) return;
  const answers = prompts.map((prompt) =>
    generateAnswer({
      seed: JSON.stringify([request.model, prompt]),
      text: readDirectives(prompt).text,
      directives,
      tokensMax: request.max_tokens ?? undefined,
      stop: typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []),
    }),
  );
  const usage = usageOf(
    prompts.reduce((tokens, prompt) => tokens + countTokens(prompt), 0),
    answers.reduce((tokens, answer) => tokens + answer.tokens, 0),
    directives,
  );
  const model = answeredModel(request.model, directives);
  exchange.counter.billed({ model, inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens });
  const head = {
    ...(directives.no_id ? {} : { id: `cmpl-${exchange.newId()}` }),
    object: 'text_completion',
    created: Math.floor(exchange.clock() / 1000),
    model,
    system_fingerprint: FINGERPRINT,
  };
  if (request.stream) {
    const wantsUsage = request.stream_options?.include_usage === true && !directives.no_usage;
    return streamEvents(exchange, streamedChoices(head, answers, wantsUsage ? usage : undefined), directives);
  }
  const choices = answers.map(({ text, finishReason }, index) => ({
    text,
    index,
    logprobs: null,
    finish_reason: finishReason,
  }));
  sendJson(exchange, { ...head, choices, ...(directives.no_usage ? {} : { usage }) }, directives);
};

const streamedChoices = function* (
  head: object,
  answers: readonly Answer[],
  usage: Usage | undefined,
): Generator<StreamEvent> {
  const noUsageYet = usage === undefined ? {} : { usage: null };
  for (const [index, { chunks, finishReason }] of answers.entries()) {
    for (const text of chunks) {
      const choices = [{ text, index, logprobs: null, finish_reason: null }];
      yield { data: { ...head, choices, ...noUsageYet }, isContent: true };
    }
    const choices = [{ text: '', index, logprobs: null, finish_reason: finishReason }];
    yield { data: { ...head, choices, ...noUsageYet } };
  }
  if (usage !== undefined) yield { data: { ...head, choices: [], usage } };
};
