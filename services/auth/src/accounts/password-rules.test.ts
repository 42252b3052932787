import { describe, expect, test } from 'vitest';
import { commonPasswords } from './common-passwords.ts';
import { findPasswordFault } from './password-rules.ts';

const fault = (password: string) => findPasswordFault(password, 'ada.lovelace@example.com');

describe('new passwords', () => {
  test.each([
    'correct horse battery',
    'Zh7!kk2 pq..n',
    'perché no, società',
    '🦊🦊 fox in a box',
    'a'.repeat(12),
    'x'.repeat(128),
  ])('takes %s', (password) => {
    expect(fault(password)).toBeUndefined();
  });

  test.each([
    'password1234',
    'PASSWORD1234',
    'password1234!',
    'Qwertyuiop123',
    '123456789012',
    'asdfghjklzxcvbnm',
    'ｐａｓｓｗｏｒｄ１２３４',
    'ada.lovelace@example.com',
    'ADA.LOVELACE@EXAMPLE.COM',
    'ada.lovelace',
    'ada.lovelaceada.lovelace',
  ])('refuses %s', (password) => {
    expect(fault(password)).toEqual(expect.any(String));
  });

  test('the list holds only what length does not refuse already, in lower case', () => {
    for (const password of commonPasswords) {
      expect(password.length).toBeGreaterThanOrEqual(12);
      expect(password).toBe(password.toLowerCase());
    }
    expect(commonPasswords.size).toBeGreaterThan(250);
  });
});
