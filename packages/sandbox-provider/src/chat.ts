import { z } from 'zod';
import { countTokens } from './count-tokens.ts';
import { type Directives, readDirectives } from './directives.ts';
import { type Exchange, playDirectives, sendJson } from './exchange.ts';
import { type Answer, generateAnswer } from './generate-answer.ts';
import { readJson } from './read-body.ts';
import { type StreamEvent, streamEvents } from './stream-events.ts';
import { answeredModel, FINGERPRINT, type Usage, usageOf } from './wire.ts';

const contentPart = z.looseObject({ type: z.string(), text: z.string().optional() });
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(contentPart), z.null()]).optional(),
});
const tool = z.looseObject({ function: z.looseObject({ name: z.string() }).optional() });
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
  const name = directives.tool_call || request.tools?.[0]?.function?.name;
  if (directives.tool_call !== undefined && name !== undefined) {
    const call = { name, arguments: JSON.stringify({ input: text }) };
    const tokens = countTokens(call.name + call.arguments);
    const toolCall: ToolCall = { id: 'call_1', type: 'function', function: call };
    return { text: '', chunks: evenHalves(call.arguments), tokens, toolCall, finishReason: 'tool_calls' };
  }
  const answer = generateAnswer({
    seed,
    text,
    directives,
    tokensMax: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    stop: typeof request.stop === 'string' ? [request.stop] : (request.stop ?? []),
  });
  return { ...answer, toolCall: undefined };
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
