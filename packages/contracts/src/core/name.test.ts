import { describe, expect, test } from 'vitest';
import { createAccountRequestSchema } from '../auth/accounts.ts';
import { descriptionSchema, nameSchema } from './name.ts';

describe('a name', () => {
  const name = nameSchema(20);

  test.each(['Quaderno', 'Città & Co.', '日記', 'يوميات', '👩‍💻', '42'])('may be %s', (text) => {
    expect(name.parse(`  ${text} `)).toBe(text);
  });

  test.each([
    ['a line break', 'Quaderno\nVerified'],
    ['an escape sequence', 'Quaderno\u001b[2J'],
    ['a line separator', 'Quaderno\u2028Verified'],
    ['a right-to-left override', 'Quaderno\u202eelpmaxe'],
    ['a space without width', 'Quader\u200bno'],
    ['an isolate', '\u2067Quaderno\u2069'],
  ])('must not contain %s', (_, text) => {
    expect(name.safeParse(text).error?.issues).toMatchObject([{ message: 'must not contain hidden characters' }]);
  });

  test.each(['\u200d', '\u200c\u200d'])('must contain a visible character: %j', (text) => {
    expect(name.safeParse(text).error?.issues).toMatchObject([{ message: 'must contain a visible character' }]);
  });

  test('has exactly one fault if it is empty', () => {
    expect(name.safeParse(' ').error?.issues).toMatchObject([{ code: 'too_small' }]);
  });
});

test('a description may have several lines, but no other control characters', () => {
  const description = descriptionSchema(100);
  expect(description.safeParse('First.\r\n\tSecond.').success).toBe(true);
  expect(description.safeParse('First.\u0007').success).toBe(false);
  expect(description.safeParse('\u202eFirst.').success).toBe(false);
});

describe('an email address', () => {
  const { email } = createAccountRequestSchema.shape;

  test.each(['ada@example.com', "o'hara+news@mail.example.co", 'müller@exämple.de'])('may be %s', (address) => {
    expect(email.parse(address)).toBe(address);
  });

  test.each([
    'ada',
    'ada@example',
    'ada@a@example.com',
    'eve,ada@example.com',
    'ada@example.com,',
    'Eve<ada@example.com>',
    '"eve"@example.com',
    'ada@[127.0.0.1]',
    'ada\u202e@example.com',
    'ada\u0000@example.com',
  ])('must not be %j', (address) => {
    expect(email.safeParse(address).success).toBe(false);
  });
});
