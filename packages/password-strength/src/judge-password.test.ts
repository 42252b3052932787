import { expect, test } from 'vitest';
import { commonPasswords, judgePassword, ratePassword } from './judge-password.ts';
import { passwordContext } from './password-context.ts';

const context = passwordContext({
  email: 'Ada.Lovelace@example.com',
  displayName: 'Ada',
  businessName: 'Analytical Engines',
});
const judge = (password: string) => judgePassword({ password, context });

test.each([
  'correct horse battery',
  'Zh7!kk2 pq..n',
  'perché no, società',
  '🦊🦊 fox in a box',
  'quercia in fiore a maggio',
])('SP 800-63B-4 §3.1.1.2: takes %s', (password) => {
  expect(judge(password)).toBeUndefined();
});

test.each([
  ['password1234', 'common'],
  ['PASSWORD1234!', 'common'],
  ['ｐａｓｓｗｏｒｄ１２３４', 'common'],
  ['123456789012', 'common'],
  ['asdfghjklzxcvbnm', 'common'],
  ['correcthorsebatterystaple', 'common'],
  ['ada.lovelace@example.com', 'own'],
  ['ADA.LOVELACE', 'own'],
  ['analytical engines', 'own'],
  ['aaaaaaaaaaaa', 'guessable'],
  ['abcabcabcabcabc', 'guessable'],
  ['ada.lovelaceada.lovelace', 'own'],
])('SP 800-63B-4 §3.1.1.2: refuses %s as %s', (password, fault) => {
  expect(judge(password)).toBe(fault);
});

test('knows long passwords that the dictionaries do not hold', () => {
  const sample = [...commonPasswords].filter((_, index) => index % 25 === 0);
  expect(sample.filter((password) => judge(password) === undefined)).toEqual([]);
});

test('rates a password by the rule that refuses it, with an explanation', () => {
  expect(ratePassword({ password: 'correct horse battery', context })).toMatchObject({ fault: undefined });
  expect(ratePassword({ password: 'password1234', context })).toMatchObject({ fault: 'common', score: 0 });
  const { score, suggestions } = ratePassword({ password: 'aaaaaaaaaaaa', context });
  expect(score).toBeLessThan(3);
  expect(suggestions).toContain('repeated');
});
