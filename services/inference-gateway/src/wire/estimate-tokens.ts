import type { InputSize } from './input-size.ts';
import type { TokenUsage } from './token-usage.ts';

/** Bytes of text to a token: an average over languages and models. */
const BYTES_PER_TOKEN = 4;
/** Decoded bytes of a file to a token. No document, sound or film holds more. */
const FILE_BYTES_PER_TOKEN = 4;
/** A file that the provider fetches by itself may be of any size: counts as the usual context window of a model. */
const LINKED_FILE_TOKENS = 131_072;
/** Tokens of an image for a provider without a rule for images. */
export const IMAGE_TOKENS_MAX = 4_096;

/** The part of a provider's rules that the estimates depend on. */
export interface MediaRule {
  /** The most tokens that one image costs. */
  readonly imageTokensMax: number;
}

/**
 * An average guess of the input tokens: a token for every four bytes of text, media as in the upper bound. Depends on the
 * request alone, so that an estimate can be repeated.
 */
export const estimateInputTokens = (input: InputSize, rule: MediaRule): number =>
  Math.ceil(input.textBytes / BYTES_PER_TOKEN) + mediaTokens(input, rule);

/** An upper bound of the input tokens: no tokenizer makes more tokens of a text than it has bytes. */
export const boundInputTokens = (input: InputSize, rule: MediaRule): number =>
  input.textBytes + mediaTokens(input, rule);

const mediaTokens = ({ fileBytes, images, linkedFiles }: InputSize, { imageTokensMax }: MediaRule): number =>
  Math.ceil(fileBytes / FILE_BYTES_PER_TOKEN) + images * imageTokensMax + linkedFiles * LINKED_FILE_TOKENS;

/** The usage of an answer whose provider reported none: the input as estimated, and a token for every four bytes generated. */
export const estimateUsage = (inputTokens: number, outputBytes: number): TokenUsage => ({
  input: inputTokens,
  output: Math.ceil(outputBytes / BYTES_PER_TOKEN),
});
