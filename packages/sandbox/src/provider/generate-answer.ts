import { createHash } from 'node:crypto';
import type { Directives } from './directives.ts';

/** Characters (Unicode code points) per token. */
const CHARACTERS_PER_TOKEN = 4;

/** Counts Unicode code points, so that an emoji counts once in every encoding. */
const countCharacters = (text: string): number => {
  let characters = 0;
  for (const _character of text) characters += 1;
  return characters;
};

/** Counts tokens: one per four characters, rounded up, at least one. */
export const countTokens = (text: string): number =>
  Math.max(1, Math.ceil(countCharacters(text) / CHARACTERS_PER_TOKEN));

/** Cuts a text to at most `tokensMax` tokens. */
const cutToTokens = (text: string, tokensMax: number): string =>
  [...text].slice(0, tokensMax * CHARACTERS_PER_TOKEN).join('');

const WORDS =
  'amber basil cedar delta ember fjord grove harbour island jasmine kelp lantern meadow nectar orchard pebble quartz river saffron timber umber valley willow yarrow zephyr'.split(
    ' ',
  );
const WORDS_MIN = 12;
const WORDS_SPREAD = 28;

/** Inputs of an answer: the same values always give the same text. */
export interface AnswerRequest {
  /** All inputs, serialized. */
  readonly seed: string;
  /** Text of the prompt without directives, for `[[echo]]`. */
  readonly text: string;
  readonly directives: Directives;
  readonly tokensMax?: number | undefined;
  readonly stop?: readonly string[];
}

/** A generated text with its stream chunks and finish reason. */
export interface Answer {
  readonly text: string;
  readonly chunks: string[];
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length';
}

/** Generates bytes determined by the seed. */
export const seededBytes = (seed: string, length: number): Buffer => {
  const blocks: Buffer[] = [];
  for (let block = 0; block * 32 < length; block += 1) {
    blocks.push(createHash('sha256').update(`${block}:`).update(seed).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
};

/** Generates words determined by the seed, joined by spaces. */
export const seededWords = (seed: string, count: number): string =>
  [...seededBytes(seed, count)].map((byte) => WORDS[byte % WORDS.length]).join(' ');

/** Generates the answer to a prompt: seeded words, or the text that the directives request. */
export const generateAnswer = (request: AnswerRequest): Answer => {
  const { directives } = request;
  const whole = cutAtStop(rawText(request), request.stop ?? []);
  const isCut = request.tokensMax !== undefined && countTokens(whole) > request.tokensMax;
  const text = isCut ? cutToTokens(whole, request.tokensMax ?? 0) : whole;
  return {
    text,
    chunks: directives.chunks === undefined ? wordChunks(text) : evenChunks(text, directives.chunks),
    tokens: countTokens(text),
    finishReason: isCut ? 'length' : 'stop',
  };
};

const rawText = ({ seed, text, directives }: AnswerRequest): string => {
  if (directives.echo) return text;
  if (directives.answer_tokens !== undefined) {
    return cutToTokens(seededWords(seed, directives.answer_tokens), directives.answer_tokens).padEnd(
      directives.answer_tokens * 4,
      '.',
    );
  }
  const [first = 0] = seededBytes(seed, 1);
  return seededWords(seed, directives.chunks ?? WORDS_MIN + (first % WORDS_SPREAD));
};

const cutAtStop = (text: string, stop: readonly string[]): string => {
  const ends = stop
    .filter((sequence) => sequence !== '')
    .map((sequence) => text.indexOf(sequence))
    .filter((index) => index >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
};

const wordChunks = (text: string): string[] => text.match(/\s*\S+|\s+$/g) ?? [text];

const evenChunks = (text: string, count: number): string[] => {
  const characters = [...text];
  const chunks: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const start = Math.floor((index * characters.length) / count);
    const end = Math.floor(((index + 1) * characters.length) / count);
    if (end > start) chunks.push(characters.slice(start, end).join(''));
  }
  return chunks;
};
