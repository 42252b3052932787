import { isRecord } from './json-value.ts';

/** Size of a prompt by kind of content, as providers count them differently. */
export interface InputSize {
  /** Bytes of the request body without the base64 of media. */
  readonly textBytes: number;
  readonly images: number;
  /** Decoded bytes of the files, audio and video in the body. */
  readonly fileBytes: number;
  /** Number of files, audio and video that the provider fetches from a URL. */
  readonly linkedFiles: number;
}

type Media = { -readonly [Name in keyof InputSize]: InputSize[Name] };

/** Types of message parts that count as text. */
const TEXT_TYPES: ReadonlySet<unknown> = new Set([
  'text',
  'input_text',
  'output_text',
  'refusal',
  'reasoning',
  'thinking',
  'tool_use',
  'tool_result',
]);
/** Types of parts with a file, audio or video in the member of the same name. */
const FILE_TYPES: ReadonlySet<unknown> = new Set([
  'audio_url',
  'document_url',
  'file',
  'file_url',
  'input_audio',
  'input_file',
  'video_url',
]);
const BASE64_MARK = ';base64,';

/** Returns the size of a body without media. Only chats have media. */
export const textSize = (bodyBytes: number): InputSize => ({
  textBytes: bodyBytes,
  images: 0,
  fileBytes: 0,
  linkedFiles: 0,
});

/**
 * Measures a chat. Media count only in the members where providers read them, because text may look like media. A part of
 * an unknown type counts as an image.
 */
export const chatSize = (bodyBytes: number, messages: unknown): InputSize => {
  const size: Media = { ...textSize(bodyBytes) };
  if (!Array.isArray(messages)) return size;
  for (const message of messages) {
    const content: unknown = isRecord(message) ? message['content'] : undefined;
    if (!Array.isArray(content)) continue;
    for (const part of content) if (isRecord(part) && !TEXT_TYPES.has(part['type'])) addPart(size, part);
  }
  return size;
};

const addPart = (size: Media, part: Record<string, unknown>): void => {
  const type = part['type'];
  const encoded = encodedMedia(part[String(type)]);
  size.textBytes -= encoded?.length ?? 0;
  if (!FILE_TYPES.has(type)) size.images += 1;
  else if (encoded === undefined) size.linkedFiles += 1;
  else size.fileBytes += decodedBytes(encoded);
};

/** Returns the media contained in the body: a data URL or bare base64. Escapes in it, which no client writes, count as text. */
const encodedMedia = (media: unknown): string | undefined => {
  if (!isRecord(media)) return dataUrl(media);
  const { url, file_data: file, data } = media;
  if (typeof data === 'string') return data;
  // Some clients send a file as base64 without the prefix of a data URL.
  return dataUrl(url) ?? (typeof file === 'string' ? file : undefined);
};

const dataUrl = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith('data:') ? value : undefined;

const decodedBytes = (text: string): number => {
  const mark = text.startsWith('data:') ? text.indexOf(BASE64_MARK) : 0;
  if (mark === -1) return text.length;
  const base64 = text.length - (mark === 0 ? 0 : mark + BASE64_MARK.length);
  return Math.floor((base64 * 3) / 4);
};

/** Bounds of the output that a request asks for. */
export interface OutputBounds {
  /** Output limit of each choice; undefined if the request sets none. */
  readonly outputTokensMax: number | undefined;
  /** Tokens that each choice has at least, even if its limit is lower. */
  readonly outputTokensMin: number;
  /** Tokens that each choice may have beyond its limit: budgets for reasoning, rejected predictions. */
  readonly outputTokensExtra: number;
  /** Choices to generate. */
  readonly choicesWanted: number;
}

type Body = Readonly<Record<string, unknown>>;

/** Limit of choices to one request. No provider generates this many. */
const ANSWERS_MAX = 2_048;
/** Names of output limits. Providers differ in which one they apply, so the largest counts. */
const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'max_new_tokens', 'n_predict'];
/** Names of the number of choices. Those of `best_of` and of a beam search are generated and billed, but not all returned. */
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
  choicesWanted: answersIn(body, 1),
});

/** Returns the bounds of the output of a legacy completion, which may have several prompts. */
export const completionBounds = (body: Body): OutputBounds => ({
  outputTokensMax: largest(body, LIMITS),
  outputTokensMin: largest(body, MINIMUMS) ?? 0,
  outputTokensExtra: reasoningBudget(body),
  choicesWanted: answersIn(body, promptsIn(body['prompt'])),
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
