import { expect, test } from 'vitest';
import { cutFaultyLists } from './json-value.ts';

const many = <T>(item: T): T[] => Array.from({ length: 1_000 }, () => item);

test('truncates lists after their hundredth item of a wrong type', () => {
  const body = { messages: [{}, ...many(1)], tools: many([]), stop: many(null), other: many(1) };
  cutFaultyLists(body);
  expect(body.messages).toEqual([{}, ...many(1).slice(0, 100)]);
  expect([body.tools.length, body.stop.length, body.other.length]).toEqual([100, 100, 1_000]);
});

test('keeps valid lists, and lists with few invalid items', () => {
  const body = { messages: many({ role: 'user' }), tools: [...many({}), 1], stop: many('end') };
  const before = structuredClone(body);
  cutFaultyLists(body);
  expect(body).toEqual(before);
});

test.each([null, 1, 'messages', [], { messages: null, stop: 'end' }])('leaves %j to validation', (body) => {
  const before = structuredClone(body);
  cutFaultyLists(body);
  expect(body).toEqual(before);
});
