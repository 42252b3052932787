import { isRecord } from './json-value.ts';

/** Bounds of the output that a request asks for. */
export interface OutputBounds {
  /** Output limit of each answer; undefined if the request sets none. */
  readonly outputTokensMax: number | undefined;
  /** Tokens that each answer has at least, even if its limit is lower. */
  readonly outputTokensMin: number;
  /** Tokens that each answer may have beyond its limit: budgets for reasoning, rejected predictions. */
  readonly outputTokensExtra: number;
  /** Answers to generate. */
  readonly answersCount: number;
}

type Body = Readonly<Record<string, unknown>>;

/** Limit of answers to one request. No provider generates this many. */
const ANSWERS_MAX = 2_048;
/** Names of output limits. Providers differ in which one they apply, so the largest counts. */
const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens', 'n_predict'];
/** Names of the number of answers. Those of `best_of` and of a beam search are generated and billed, but not all returned. */
const ANSWERS = ['n', 'best_of', 'num_return_sequences', 'beam_width'];
/** vLLM and its derivatives generate at least this many. */
const MINIMUMS = ['min_tokens', 'min_completion_tokens', 'min_new_tokens'];
/** Members for reasoning, by words of their names: `thinking_budget`, `max_thinking_tokens`, `reasoning.max_tokens`. */
const REASONING = /thinking|reasoning/;
const BUDGET = /budget|tokens/;
/** Members that may contain such members in turn. Templates of vLLM and options of Gemini's compatible API. */
const CONTAINERS = new Set(['chat_template_kwargs', 'extra_body', 'google', 'options', 'generation_config']);
const NESTING_MAX = 4;

/** Returns the bounds of the output of a chat. */
export const chatBounds = (body: Body): OutputBounds => ({
  outputTokensMax: largest(body, LIMITS),
  outputTokensMin: largest(body, MINIMUMS) ?? 0,
  outputTokensExtra: reasoningBudget(body) + predictedBytes(body),
  answersCount: answersIn(body, 1),
});

/** Returns the bounds of the output of a legacy completion, which may have several prompts. */
export const completionBounds = (body: Body): OutputBounds => ({
  outputTokensMax: largest(body, LIMITS),
  outputTokensMin: largest(body, MINIMUMS) ?? 0,
  outputTokensExtra: reasoningBudget(body),
  answersCount: answersIn(body, promptsIn(body['prompt'])),
});

const answersIn = (body: Body, prompts: number): number =>
  Math.min(prompts * Math.max(1, largest(body, ANSWERS) ?? 1), ANSWERS_MAX);

const largest = (body: Body, names: readonly string[]): number | undefined => {
  const values = names.map((name) => count(body[name])).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : Math.max(...values);
};

/** Reads a number above 0 as a lenient provider may: from a string, rounded up, possibly infinite. */
const count = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && number > 0 ? Math.ceil(number) : undefined;
};

/**
 * Returns the largest budget for reasoning. Some providers count it within the output limit and some beside it, so it is
 * always added. An effort without a number has no budget: it stays within the limit.
 */
const reasoningBudget = (body: Body, isReasoning = false, depth = 1): number => {
  let budget = 0;
  for (const [name, value] of Object.entries(body)) {
    const isAbout = isReasoning || REASONING.test(name);
    if (isRecord(value)) {
      const isSearched = depth < NESTING_MAX && (isAbout || CONTAINERS.has(name));
      if (isSearched) budget = Math.max(budget, reasoningBudget(value, isAbout, depth + 1));
    } else if (isAbout && BUDGET.test(name)) budget = Math.max(budget, count(value) ?? 0);
  }
  return budget;
};

/** Rejected tokens of a predicted output are billed as output. No text has more tokens than bytes. */
const predictedBytes = ({ prediction }: Body): number =>
  isRecord(prediction) ? Buffer.byteLength(JSON.stringify(prediction)) : 0;

/** Counts the prompts: a prompt is a string or a list of tokens, or a list of either. */
const promptsIn = (prompt: unknown): number => {
  if (!Array.isArray(prompt) || prompt.every((item) => typeof item === 'number')) return 1;
  return Math.max(1, prompt.length);
};
