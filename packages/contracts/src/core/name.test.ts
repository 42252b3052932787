import { describe, expect, test } from 'vitest';
import { createAccountRequestSchema } from '../auth/accounts.ts';
import { descriptionSchema, nameSchema, publicNameSchema } from './name.ts';

describe('a name', () => {
  const name = nameSchema(20);

  test.each([
    'Quaderno',
    'Città & Co.',
    '日記',
    'يوميات',
    '👩‍💻',
    '👨🏽‍🚀 Mission',
    '❤️ Hearts',
    '🏳️‍🌈',
    '1️⃣ First',
    '葛\u{e0100}城',
    'می\u200cخواهم',
    'ශ්\u200dරී',
    '42',
    'O’Brien & Söhne',
    'ŠVČ',
  ])('may be %s', (text) => {
    expect(name.parse(`  ${text} `)).toBe(text);
  });

  test.each([
    ['a line break', 'Quaderno\nVerified'],
    ['an escape sequence', 'Quaderno\u001b[2J'],
    ['a line separator', 'Quaderno\u2028Verified'],
    ['a right-to-left override', 'Quaderno\u202eelpmaxe'],
    ['a space without width', 'Quader\u200bno'],
    ['an isolate', '\u2067Quaderno\u2069'],
    ['a Hangul filler', 'Quaderno\u3164'],
    ['a half-width Hangul filler', '\uffa0'],
    ['Hangul jamo fillers', '\u115f\u1160'],
    ['a Khmer inherent vowel', 'Quaderno\u17b4'],
    ['a blank Braille pattern', '\u2800\u2800'],
    ['a note head without ink', '\u{1d159}'],
    ['a grapheme joiner', 'Qua\u034fderno'],
    ['a variation selector alone', 'Quaderno\ufe0f'],
    ['a supplementary variation selector', 'Quaderno\u{e0101}'],
    ['tags', '🏴\u{e0067}\u{e0062}\u{e007f}'],
    ['a joiner between Latin letters', 'Quader\u200dno'],
    ['two joiners', '👩\u200d\u200d💻'],
    ['only joiners', '\u200c\u200d'],
    ['an unassigned default-ignorable character', 'Quaderno\u{e0fff}'],
  ])('must not contain %s', (_, text) => {
    expect(name.safeParse(text).error?.issues).toMatchObject([{ message: 'must not contain hidden characters' }]);
  });

  test('must contain a visible character', () => {
    const text = '\u0301';
    expect(name.safeParse(text).error?.issues).toMatchObject([{ message: 'must contain a visible character' }]);
  });

  test('has exactly one fault if it is empty', () => {
    expect(name.safeParse(' ').error?.issues).toMatchObject([{ code: 'too_small' }]);
  });
});

describe('the name of an app or a business', () => {
  const name = publicNameSchema(80);

  test.each([
    'Acme',
    'Quaderno ❤️',
    'Official Charts Company',
    'Verified Books Ltd',
    'Pubblico Ufficiale S.r.l.',
    'Ufficio Verifiche',
    'SVCA',
    'Discovery',
    'ŠVČ Praha',
    'Сервис Москва',
    'The Approved Kennel',
    'Trust & Verify',
    '日本SVCX',
    'Certified Angus Beef',
  ])('may be %s', (text) => {
    expect(name.parse(text)).toBe(text);
  });

  test.each([
    'svc',
    'SVC',
    'svc Console',
    'The svc team',
    'svc-support',
    's v c',
    'S.V.C.',
    'ｓｖｃ',
    'ⓢⓥⓒ',
    '🅂🅅🄲',
    '🅢🅥🅒',
    '🆂🆅🅲',
    '𝐬𝐯𝐜',
    'ѕvс',
    'ꜱᴠᴄ',
    '✔ Verified publisher',
    '✔️ Acme',
    'Acme ✅',
    'Acme ☑',
    'Verified publisher',
    'Acme, verified publisher',
    'Publisher: verified',
    'Acme (verified)',
    'Acme – Official',
    'Acme | official app',
    'Acme Verified',
    'Verified',
    'official',
    'Editore verificato',
    'App ufficiale',
    'Acme (ufficiale)',
    'Dominio verificato: acme.example',
    'Ｖｅｒｉｆｉｅｄ app',
    'Vеrifiеd publisher',
  ])('must not be %s', (text) => {
    expect(name.safeParse(text).error?.issues).toMatchObject([
      { code: 'custom', message: 'must not claim to be svc, or to be verified or official' },
    ]);
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
