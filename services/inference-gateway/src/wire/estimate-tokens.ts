import { isRecord } from './json-value.ts';
import type { TokenUsage } from './token-usage.ts';

/** Bytes of text to a token, as a fair guess over languages and models. */
const BYTES_PER_TOKEN = 4;
/** The most that one image, sound or file of a prompt counts for, whatever its size in bytes. */
const MEDIA_TOKENS_MAX = 4_096;
/** Parts of a message that are media; what one of them holds stands in the member of the same name. */
const MEDIA_TYPES: ReadonlySet<unknown> = new Set([
  'image_url',
  'input_audio',
  'file',
  'audio_url',
  'video_url',
  'document_url',
]);

/** The images, sounds and files of a request. */
export interface Media {
  readonly count: number;
  /** Bytes of the request body that carry them as base64, which says nothing of tokens. */
  readonly bytes: number;
}

/** A request without any. */
export const NO_MEDIA: Media = { count: 0, bytes: 0 };

/**
 * A fair guess of the input tokens of a request body: its bytes by four, media apart. Depends on the body alone, so that
 * what is settled without the provider's own count can be computed again.
 */
export const estimateInputTokens = (body: Buffer, media: Media): number =>
  Math.ceil((body.length - media.bytes) / BYTES_PER_TOKEN) + media.count * MEDIA_TOKENS_MAX;

/** More input tokens than the body can have: no tokenizer makes more tokens of a text than it has bytes. */
export const boundInputTokens = (body: Buffer, media: Media): number =>
  body.length - media.bytes + media.count * MEDIA_TOKENS_MAX;

/** The usage of an answer whose provider did not say: the input as guessed, and a token for every four bytes generated. */
export const estimateUsage = (inputTokens: number, outputBytes: number): TokenUsage => ({
  input: inputTokens,
  output: Math.ceil(outputBytes / BYTES_PER_TOKEN),
});

/** Of two limits for the same output nobody knows which one a provider keeps; undefined where there is none. */
export const largerLimit = (first: number | undefined, second: number | undefined): number | undefined =>
  first === undefined || second === undefined ? (first ?? second) : Math.max(first, second);

/** The media of a chat: only where a provider reads them as such, as text may look like anything. */
export const mediaOf = (messages: unknown): Media => {
  if (!Array.isArray(messages)) return NO_MEDIA;
  let count = 0;
  let bytes = 0;
  for (const message of messages) {
    const content: unknown = isRecord(message) ? message['content'] : undefined;
    if (!Array.isArray(content)) continue;
    for (const part of content) {
      if (!isRecord(part) || !MEDIA_TYPES.has(part['type'])) continue;
      count += 1;
      bytes += carriedBytes(part[String(part['type'])]);
    }
  }
  return { count, bytes };
};

/** Of what stands in the body itself; escapes within it, which nobody needs, count as text. */
const carriedBytes = (media: unknown): number => {
  if (!isRecord(media)) return dataUrlBytes(media);
  const { url, file_data: file, data } = media;
  return dataUrlBytes(url ?? file) + (typeof data === 'string' ? data.length : 0);
};

const dataUrlBytes = (value: unknown): number =>
  typeof value === 'string' && value.startsWith('data:') ? value.length : 0;
