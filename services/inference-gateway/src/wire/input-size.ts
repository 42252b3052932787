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
