import { describe, expect, test } from 'vitest';
import { withSessionId } from './checkout-sessions.ts';

describe('withSessionId', () => {
  test.each([
    ['https://a.example/ok', 'https://a.example/ok?session_id=cs_1'],
    ['https://a.example/ok?', 'https://a.example/ok?session_id=cs_1'],
    ['https://a.example/ok?a=b%20c', 'https://a.example/ok?a=b%20c&session_id=cs_1'],
    ['https://a.example/ok?a=b#part', 'https://a.example/ok?a=b&session_id=cs_1#part'],
    ['https://a.example/#/route?x=1', 'https://a.example/?session_id=cs_1#/route?x=1'],
  ])('turns %s into %s', (url, expected) => {
    expect(withSessionId(url, 'cs_1')).toBe(expected);
  });
});
