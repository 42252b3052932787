import { encodeBase64 } from '../bytes.ts';
import type { ChatMessage, ChatRequest, ContentPart } from '../inference/chat.ts';
import type {
  AssistantPart,
  CallOptions,
  FilePart,
  PromptMessage,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultOutput,
  Warning,
} from './specification.ts';

/** Name of the provider and of its public model. */
export const PROVIDER = 'svc';

/** Converts a prompt of the AI SDK to messages in the wire format. */
const toMessages = (prompt: readonly PromptMessage[]): ChatMessage[] => prompt.flatMap(toWireMessages);

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

/** Converts a call of the AI SDK to a request in the wire format. `providerOptions.svc` adds fields of `ChatRequest`. */
export const toRequest = (call: CallOptions): { readonly request: ChatRequest; readonly warnings: Warning[] } => {
  const warnings: Warning[] = [];
  if (call.topK !== undefined) warnings.push({ type: 'unsupported', feature: 'topK' });
  const tools = (call.tools ?? []).flatMap((tool) => toTool(tool, warnings));
  const { reasoning } = call;
  const request = {
    messages: toMessages(call.prompt),
    max_completion_tokens: call.maxOutputTokens,
    temperature: call.temperature,
    top_p: call.topP,
    stop: call.stopSequences,
    presence_penalty: call.presencePenalty,
    frequency_penalty: call.frequencyPenalty,
    seed: call.seed,
    response_format: toResponseFormat(call.responseFormat),
    reasoning_effort: reasoning === 'provider-default' ? undefined : reasoning,
    ...(tools.length === 0 ? {} : { tools, tool_choice: toToolChoice(call.toolChoice) }),
    ...call.providerOptions?.[PROVIDER],
  } satisfies ChatRequest;
  return { request, warnings };
};

const toTool = (tool: Tool, warnings: Warning[]): Readonly<Record<string, unknown>>[] => {
  if (tool.type !== 'function') {
    warnings.push({ type: 'unsupported', feature: `tool ${tool.id}` });
    return [];
  }
  const { name, description, inputSchema: parameters, strict } = tool;
  return [{ type: 'function', function: { name, description, parameters, strict } }];
};

const toToolChoice = (choice: ToolChoice | undefined): ChatRequest['tool_choice'] => {
  if (choice?.type !== 'tool') return choice?.type;
  return { type: 'function', function: { name: choice.toolName } };
};

const toResponseFormat = (format: ResponseFormat | undefined): ChatRequest['response_format'] => {
  if (format?.type !== 'json') return undefined;
  const { schema, name = 'response', description } = format;
  if (schema === undefined) return { type: 'json_object' };
  return { type: 'json_schema', json_schema: { name, description, schema, strict: true } };
};
