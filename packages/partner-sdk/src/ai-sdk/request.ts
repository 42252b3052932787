import type { ChatRequest } from '../inference/index.ts';
import { toMessages } from './messages.ts';
import { PROVIDER } from './provider-name.ts';
import type { CallOptions, ResponseFormat, Tool, ToolChoice, Warning } from './specification.ts';

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
