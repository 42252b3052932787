import { z } from 'zod';
import { type Directives, readDirectives } from './directives.ts';
import {
  answeredModel,
  type Exchange,
  FINGERPRINT,
  playDirectives,
  readJson,
  sendJson,
  type Usage,
  usageOf,
} from './exchange.ts';
import { type Answer, countTokens, generateAnswer, sampleOfSchema } from './generate-answer.ts';
import { type StreamEvent, streamEvents } from './stream-events.ts';

const contentPart = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(contentPart), z.null()]).optional(),
});
const tool = z.looseObject({
  function: z.looseObject({ name: z.string(), parameters: z.looseObject({}).nullish() }).optional(),
});
const responseFormat = z.looseObject({
  type: z.string(),
  json_schema: z.looseObject({ schema: z.looseObject({}).nullish() }).nullish(),
});
const tokensMax = z.number().int().positive().nullish();

const chatRequest = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: tokensMax,
  max_completion_tokens: tokensMax,
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  tools: z.array(tool).nullish(),
  response_format: responseFormat.nullish(),
});

type ChatRequest = z.infer<typeof chatRequest>;
type Message = z.infer<typeof message>;

interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { name: string; arguments: string };
}

interface ChatAnswer extends Omit<Answer, 'finishReason'> {
  readonly toolCall: ToolCall | undefined;
  readonly finishReason: Answer['finishReason'] | 'tool_calls';
}

/** Handles POST /v1/chat/completions, as JSON or as a stream. */
export const answerChat = async (exchange: Exchange): Promise<void> => {
  const request = await readJson(exchange.req, chatRequest);
  const { directives, text } = readDirectives(lastUserText(request.messages));
  if (!(await playDirectives(exchange, directives))) return;
  const answer = toAnswer(request, directives, text);
  const usage = usageOf(countPrompt(request.messages), answer.tokens, directives);
  const model = answeredModel(request.model, directives);
  exchange.counter.billed({ model, inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens });
  const head = {
    ...(directives.no_id ? {} : { id: `chatcmpl-${exchange.newId()}` }),
    created: Math.floor(exchange.clock() / 1000),
    model,
    system_fingerprint: FINGERPRINT,
  };
  if (request.stream) {
    const wantsUsage = request.stream_options?.include_usage === true && !directives.no_usage;
    const events = streamedAnswer({ ...head, object: 'chat.completion.chunk' }, answer, wantsUsage ? usage : undefined);
    return streamEvents(exchange, events, directives);
  }
  sendJson(
    exchange,
    wholeAnswer({ ...head, object: 'chat.completion' }, answer, directives.no_usage ? undefined : usage),
    directives,
  );
};

const textOf = ({ content }: Message): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');

const lastUserText = (messages: readonly Message[]): string => {
  const last = messages.findLast(({ role }) => role === 'user');
  return last === undefined ? '' : textOf(last);
};

/** Counts input tokens per message by its text; images and other parts are free in the sandbox. */
const countPrompt = (messages: readonly Message[]): number =>
  messages.reduce((tokens, each) => tokens + countTokens(textOf(each)), 0);

const toAnswer = (request: ChatRequest, directives: Directives, text: string): ChatAnswer => {
  const seed = JSON.stringify([request.model, request.messages]);
  const result = toolResult(request.messages);
  const tool = findTool(request, directives);
  if (tool !== undefined && result === undefined) {
    const call = { name: tool.name, arguments: JSON.stringify(argumentsOf(tool, text)) };
    const tokens = countTokens(call.name + call.arguments);
    const toolCall: ToolCall = { id: 'call_1', type: 'function', function: call };
    return { text: '', chunks: evenHalves(call.arguments), tokens, toolCall, finishReason: 'tool_calls' };
  }
  const structured = structuredText(request, directives, result ?? text);
  // What a tool returned answers the question that called it.
  const said = structured ?? (directives.tool_call === undefined ? undefined : result);
  const answer = generateAnswer({
    seed,
    text: said ?? text,
    directives: said === undefined ? directives : { ...directives, echo: true },
    tokensMax: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    stop: structured === undefined ? toStops(request) : [],
  });
  return { ...answer, toolCall: undefined };
};

const toStops = ({ stop }: ChatRequest): string[] => (typeof stop === 'string' ? [stop] : (stop ?? []));

interface CalledTool {
  readonly name: string;
  readonly parameters: object | undefined;
}

const findTool = ({ tools }: ChatRequest, { tool_call: named }: Directives): CalledTool | undefined => {
  if (named === undefined) return undefined;
  const offered = (tools ?? []).map((each) => each.function);
  const found = named === '' ? offered[0] : offered.find((each) => each?.name === named);
  const name = named || found?.name;
  return name === undefined ? undefined : { name, parameters: found?.parameters ?? undefined };
};

/** The prompt is the argument `input`, unless the tool declares other arguments. */
const argumentsOf = ({ parameters }: CalledTool, text: string): unknown => {
  const declared: unknown = parameters === undefined ? undefined : Reflect.get(parameters, 'properties');
  const takesInput = typeof declared !== 'object' || declared === null || 'input' in declared;
  return takesInput ? { input: text } : sampleOfSchema(parameters, text);
};

/** Returns what the tools returned since the last question; undefined if none was called. */
const toolResult = (messages: readonly Message[]): string | undefined => {
  const results = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const texts = results.filter(({ role }) => role === 'tool').map(textOf);
  return texts.length === 0 ? undefined : texts.join(' ');
};

/** Returns JSON as `response_format` asks for, unless directives determine the text. */
const structuredText = (
  { response_format: format }: ChatRequest,
  { echo, answer_tokens: exactTokens }: Directives,
  text: string,
): string | undefined => {
  if (echo || exactTokens !== undefined) return undefined;
  if (format?.type === 'json_object') return JSON.stringify({ answer: text });
  if (format?.type !== 'json_schema') return undefined;
  return JSON.stringify(sampleOfSchema(format.json_schema?.schema ?? {}, text));
};

const evenHalves = (text: string): string[] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
};

const wholeAnswer = (head: object, { text, toolCall, finishReason }: ChatAnswer, usage: Usage | undefined): object => ({
  ...head,
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: toolCall === undefined ? text : null,
        refusal: null,
        ...(toolCall === undefined ? {} : { tool_calls: [toolCall] }),
      },
      logprobs: null,
      finish_reason: finishReason,
    },
  ],
  ...(usage === undefined ? {} : { usage }),
});

const streamedAnswer = function* (
  head: object,
  { chunks, toolCall, finishReason }: ChatAnswer,
  usage: Usage | undefined,
): Generator<StreamEvent> {
  const noUsageYet = usage === undefined ? {} : { usage: null };
  const chunk = (delta: object, finish_reason: string | null = null): object => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...noUsageYet,
  });
  if (toolCall === undefined) {
    yield { data: chunk({ role: 'assistant', content: '', refusal: null }) };
    for (const content of chunks) yield { data: chunk({ content }), isContent: true };
  } else {
    const opening = { index: 0, ...toolCall, function: { name: toolCall.function.name, arguments: '' } };
    yield { data: chunk({ role: 'assistant', content: null, tool_calls: [opening] }) };
    for (const piece of chunks) {
      yield { data: chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] }), isContent: true };
    }
  }
  yield { data: chunk({}, finishReason) };
  if (usage !== undefined) yield { data: { ...head, choices: [], usage } };
};
