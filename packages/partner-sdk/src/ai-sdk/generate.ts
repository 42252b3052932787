import type { ChatCompletion, SvcClient } from '../inference/index.ts';
import { reasoningOf, toFinishReason, toResponseMetadata, toUsage } from './answer.ts';
import { asCallError } from './call-error.ts';
import { toRequest } from './request.ts';
import type { CallOptions, Content, GenerateResult } from './specification.ts';

/** Requests a whole completion. */
export const generate = async (client: SvcClient, call: CallOptions): Promise<GenerateResult> => {
  const { request, warnings } = toRequest(call);
  const completion = await client.chat(request, { signal: call.abortSignal }).catch((error: unknown) => {
    throw asCallError(error);
  });
  const [choice] = completion.choices;
  return {
    content: choice === undefined ? [] : toContent(choice.message),
    finishReason: toFinishReason(choice?.finish_reason),
    usage: toUsage(completion.usage),
    request: { body: request },
    response: toResponseMetadata(completion),
    warnings,
  };
};

const toContent = (message: ChatCompletion['choices'][number]['message']): Content[] => {
  const reasoning = reasoningOf(message);
  const calls = message.tool_calls ?? [];
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(message.content ? [{ type: 'text' as const, text: message.content }] : []),
    ...calls.map(({ id, function: called }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: called?.name ?? '',
      input: called?.arguments ?? '',
    })),
  ];
};
