import { isRecord } from '../../wire/index.ts';
import { Unsupported } from './unsupported.ts';

type Part = Readonly<Record<string, unknown>>;

const UPLOAD_REASON = 'the gateway stores no files. Send the content itself.';

/** Translates the content of a message to parts of the chat format. A string stays a string. Throws Unsupported. */
export const translateContent = (content: unknown): unknown =>
  Array.isArray(content) ? content.filter(isRecord).map(toPart) : content;

const toPart = (part: Part): object => {
  if (part['file_id'] !== undefined && part['file_id'] !== null) throw new Unsupported('input', UPLOAD_REASON);
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part['text'] };
    case 'input_image':
      return { type: 'image_url', image_url: { url: part['image_url'], ...defined('detail', part['detail']) } };
    case 'input_audio':
      return { type: 'input_audio', input_audio: part['input_audio'] };
    case 'input_file':
      return toFile(part);
    default:
      throw new Unsupported(
        'input',
        `content of type ${String(part['type']).slice(0, 64)} has no counterpart in a chat.`,
      );
  }
};

const toFile = (part: Part): object => {
  const { filename, file_data } = part;
  if (typeof file_data !== 'string') throw new Unsupported('input', UPLOAD_REASON);
  return { type: 'file', file: { ...defined('filename', filename), file_data } };
};

/** Joins the text parts of a content. Throws Unsupported for a part that is neither text nor refusal. */
export const textOf = (content: unknown, param: string): string => {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content
    .filter(isRecord)
    .map(({ type, text }) => {
      if (type === 'refusal') return '';
      if (typeof text === 'string') return text;
      throw new Unsupported(param, `content of type ${String(type).slice(0, 64)} must be text here.`);
    })
    .join('');
};

/** Returns the member unless its value is null or undefined. */
export const defined = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  value === null || value === undefined ? {} : { [name]: value };
