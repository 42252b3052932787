import type { CallDelta } from './chat-delta.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export const textPart = (text: string): object => ({ type: 'output_text', annotations: [], logprobs: [], text });

export const refusalPart = (refusal: string): object => ({ type: 'refusal', refusal });

export const messageItem = (id: string, status: ItemStatus, content: readonly object[]): object => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});

export const callItem = (id: string, status: ItemStatus, call: Omit<CallDelta, 'index'>): object => ({
  id,
  type: 'function_call',
  status,
  arguments: call.arguments,
  call_id: call.id,
  name: call.name,
});

/** Returns why a response is incomplete; undefined for a complete one. */
export const incompleteReason = (finishReason: string | undefined): string | undefined => {
  if (finishReason === 'length' || finishReason === 'model_length') return 'max_output_tokens';
  return finishReason === 'content_filter' ? 'content_filter' : undefined;
};
