import { ZxcvbnFactory, type ZxcvbnResult } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as commonDictionary } from '@zxcvbn-ts/language-common';
import { dictionary as englishDictionary } from '@zxcvbn-ts/language-en';
import { dictionary as italianDictionary } from '@zxcvbn-ts/language-it';
import { commonPasswords } from './common-passwords.ts';

/** Why a password is refused: a common one, made of the owner's address or names, or guessed in another way. */
export type PasswordFault = 'common' | 'own' | 'guessable';

/** A password and what an attacker knows of its owner. */
export interface JudgedPassword {
  readonly password: string;
  readonly context: readonly string[];
}

/** More than ten to the eighth guesses (zxcvbn's "safely unguessable"). */
const SCORE_MIN = 3;
/** Bounds the time for passwords full of letters that stand for digits. */
const SUBSTITUTIONS_MAX = 30;
/** Dictionaries of passwords: the library's, and ours of long ones. */
const PASSWORD_DICTIONARIES = new Set(['passwords-common', 'longPasswords']);

const zxcvbn = new ZxcvbnFactory({
  graphs: adjacencyGraphs,
  dictionary: {
    ...commonDictionary,
    ...englishDictionary,
    ...italianDictionary,
    longPasswords: [...commonPasswords],
  },
  l33tMaxSubstitutions: SUBSTITUTIONS_MAX,
});

/** Strength of a password with the library's keys of an explanation. */
export interface PasswordRating {
  /** From 0, guessed at once, to 4. */
  readonly score: number;
  /** Undefined if the password is strong enough. */
  readonly fault: PasswordFault | undefined;
  readonly warning: string | undefined;
  readonly suggestions: readonly string[];
}

/** Returns what is wrong with a new password, or undefined. Takes up to some hundred milliseconds. */
export const judgePassword = (judged: JudgedPassword): PasswordFault | undefined => faultOf(check(judged));

/** Rates a password as `judgePassword` does, and says why. */
export const ratePassword = (judged: JudgedPassword): PasswordRating => {
  const result = check(judged);
  const { warning, suggestions } = result.feedback;
  return { score: result.score, fault: faultOf(result), warning: warning ?? undefined, suggestions };
};

const check = ({ password, context }: JudgedPassword): ZxcvbnResult =>
  zxcvbn.check(password.normalize('NFKC'), [...context]);

const faultOf = ({ score, sequence }: ZxcvbnResult): PasswordFault | undefined => {
  if (score >= SCORE_MIN) return undefined;
  const dictionaries = sequence.map((match) => String(match['dictionaryName']));
  if (dictionaries.includes('userInputs')) return 'own';
  return dictionaries.some((name) => PASSWORD_DICTIONARIES.has(name)) ? 'common' : 'guessable';
};
