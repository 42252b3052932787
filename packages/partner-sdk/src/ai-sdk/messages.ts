import { encodeBase64 } from '../bytes.ts';
import type { ChatMessage, ContentPart } from '../inference/index.ts';
import type { AssistantPart, FilePart, PromptMessage, TextPart, ToolResultOutput } from './specification.ts';

/** Converts a prompt of the AI SDK to messages in the wire format. */
export const toMessages = (prompt: readonly PromptMessage[]): ChatMessage[] => prompt.flatMap(toWireMessages);

const toWireMessages = (message: PromptMessage): ChatMessage[] => {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content }];
    case 'user':
      return [{ role: 'user', content: toUserContent(message.content) }];
    case 'assistant':
      return [toAssistantMessage(message.content)];
    case 'tool':
      return message.content.flatMap((part) =>
        part.type === 'tool-result'
          ? [{ role: 'tool', tool_call_id: part.toolCallId, content: toResultText(part.output) }]
          : [],
      );
  }
};

const toUserContent = (content: readonly (TextPart | FilePart)[]): string | ContentPart[] => {
  const [first, ...rest] = content;
  if (first?.type === 'text' && rest.length === 0) return first.text;
  return content.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : toFilePart(part)));
};

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

const toFilePart = ({ data, mediaType, filename }: FilePart): ContentPart => {
  if (data instanceof URL && isImage(mediaType)) return { type: 'image_url', image_url: { url: data.href } };
  if (typeof data === 'object' && 'text' in data && typeof data.text === 'string')
    return { type: 'text', text: data.text };
  if (typeof data !== 'string' && !(data instanceof Uint8Array))
    throw new TypeError(`Files of type ${mediaType} must be given as bytes.`);
  const base64 = typeof data === 'string' ? data : encodeBase64(data);
  // The AI SDK writes `image/*` if it does not know the exact type.
  const url = `data:${mediaType === 'image/*' ? 'image/jpeg' : mediaType};base64,${base64}`;
  if (isImage(mediaType)) return { type: 'image_url', image_url: { url } };
  const format = AUDIO_FORMATS[mediaType];
  if (format !== undefined) return { type: 'input_audio', input_audio: { data: base64, format } };
  return { type: 'file', file: { filename: filename ?? 'file', file_data: url } };
};

const isImage = (mediaType: string): boolean => mediaType === 'image' || mediaType.startsWith('image/');

/** Leaves out reasoning: models do not read it back. */
const toAssistantMessage = (content: readonly AssistantPart[]): ChatMessage => {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = content.flatMap((part) =>
    part.type === 'tool-call'
      ? [
          {
            id: part.toolCallId,
            type: 'function',
            function: { name: part.toolName, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  );
  return { role: 'assistant', content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
};

const toResultText = (output: ToolResultOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return output.reason ?? 'The user declined the tool call.';
    case 'json':
    case 'error-json':
    case 'content':
      return JSON.stringify(output.value);
  }
};
