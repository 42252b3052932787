import type { TokenUsage } from './token-usage.ts';

/** Bytes of text to a token, as a fair guess over languages and models. */
const BYTES_PER_TOKEN = 4;
/** The most that one image, sound or file of a prompt counts for, whatever its size in bytes. */
const MEDIA_TOKENS_MAX = 4_096;

const DATA_URL = Buffer.from('"data:');
const URL_KEY = Buffer.from('"url"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * A fair guess of the input tokens of a request body: its bytes by four, media apart. Depends on the body alone, so that
 * what is settled without the provider's own count can be computed again.
 */
export const estimateInputTokens = (body: Buffer): number =>
  Math.ceil(textBytes(body) / BYTES_PER_TOKEN) + mediaTokens(body);

/** More input tokens than the body can have: no tokenizer makes more tokens of a text than it has bytes. */
export const boundInputTokens = (body: Buffer): number => textBytes(body) + mediaTokens(body);

/** The usage of an answer whose provider did not say: the input as guessed, and a token for every four bytes generated. */
export const estimateUsage = (inputTokens: number, outputBytes: number): TokenUsage => ({
  input: inputTokens,
  output: Math.ceil(outputBytes / BYTES_PER_TOKEN),
});

/** Media stand behind a `url` key, whether they are linked or carried as a data URL. */
const mediaTokens = (body: Buffer): number => {
  let count = 0;
  for (let at = body.indexOf(URL_KEY); at !== -1; at = body.indexOf(URL_KEY, at + URL_KEY.length)) count += 1;
  return count * MEDIA_TOKENS_MAX;
};

/** Bytes of the body without its data URLs: base64 is long, and says nothing of tokens. */
const textBytes = (body: Buffer): number => {
  let bytes = body.length;
  let at = body.indexOf(DATA_URL);
  while (at !== -1) {
    // An escaped quote is text that only looks like a data URL.
    const isText = body[at - 1] === BACKSLASH;
    const close = isText ? at + 1 : body.indexOf(QUOTE, at + DATA_URL.length);
    if (close === -1) break;
    if (!isText) bytes -= close - at;
    at = body.indexOf(DATA_URL, close);
  }
  return bytes;
};
