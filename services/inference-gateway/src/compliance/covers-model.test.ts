import { expect, test } from 'vitest';
import { coversModel } from './covers-model.ts';

test.each([
  ['chat-1', 'chat-1'],
  ['chat-1', 'chat-1-2026-06-01'],
  ['chat-1', 'chat-1:latest'],
  ['chat-1', 'chat-1@eu'],
  ['chat-1', 'vendor/chat-1'],
  ['chat-1', 'vendor/chat-1-fp8'],
  ['vendor/chat-1', 'chat-1'],
  ['vendor/chat-1', 'vendor/chat-1:tag'],
  ['a/b/chat-1', 'a/b/chat-1'],
])('%s covers %s', (route, answered) => expect(coversModel(route, answered)).toBe(true));

test.each([
  ['chat-1', 'chat-2'],
  ['chat-1', 'chat-10'],
  ['chat-1', 'chat'],
  ['chat-1', 'chat-1-'],
  ['chat-1', 'chat-1.5'],
  ['chat-1', 'Chat-1'],
  ['vendor/chat-1', 'other/chat-1'],
  ['chat-1', ''],
  ['chat-1', 'chat-1/other'],
])('%s does not cover %s', (route, answered) => expect(coversModel(route, answered)).toBe(false));
