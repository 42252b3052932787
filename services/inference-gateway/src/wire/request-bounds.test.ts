import { describe, expect, test } from 'vitest';
import { chatBounds, completionBounds } from './request-bounds.ts';

describe('chatBounds', () => {
  test.each([
    [{ max_tokens: 5, max_completion_tokens: 7 }, 7],
    [{ max_new_tokens: 9 }, 9],
    [{ n_predict: '9' }, 9],
    [{ max_tokens: -1 }, undefined],
    [{ max_tokens: null }, undefined],
  ])('reads the largest output limit of %j', (body, limit) => expect(chatBounds(body).outputTokensMax).toBe(limit));

  test.each([
    [{ n: 3 }, 3],
    [{ best_of: 4, n: 2 }, 4],
    [{ use_beam_search: true, best_of: '5' }, 5],
    [{ n: 0 }, 1],
    [{ n: 1e9 }, 2_048],
  ])('counts the generated answers of %j', (body, count) => expect(chatBounds(body).choicesWanted).toBe(count));

  test('reads the minimum length', () => expect(chatBounds({ min_tokens: 900 }).outputTokensMin).toBe(900));

  test.each([
    [{ thinking: { type: 'enabled', budget_tokens: 900 } }, 900],
    [{ reasoning: { max_tokens: 900 } }, 900],
    [{ max_thinking_tokens: 900 }, 900],
    [{ max_reasoning_tokens: '900' }, 900],
    [{ thinking_budget: 900, enable_thinking: true }, 900],
    [{ thinking_token_budget: 900 }, 900],
    [{ chat_template_kwargs: { thinking_budget: 900 } }, 900],
    [{ extra_body: { google: { thinking_config: { thinking_budget: 900 } } } }, 900],
    [{ thinking: { budget_tokens: 1 }, max_thinking_tokens: 2 }, 2],
    [{ prediction: { type: 'content', content: 'x' } }, 32],
    [{ reasoning_effort: 'high' }, 0],
    [{ thinking: { budget_tokens: -1 } }, 0],
    [{ metadata: { thinking_budget: 900 }, tools: [{ thinking_budget: 900 }] }, 0],
  ])('adds the budget of %j', (body, extra) => expect(chatBounds(body).outputTokensExtra).toBe(extra));
});

test.each([
  [{ prompt: ['a', 'b'], n: 2, best_of: 3 }, 6],
  [{ prompt: [1, 2], best_of: 3 }, 3],
  [{ prompt: [[1], [2]] }, 2],
  [{ prompt: 'a' }, 1],
])('completionBounds counts the answers to every prompt of %j', (body, count) => {
  expect(completionBounds(body).choicesWanted).toBe(count);
});
