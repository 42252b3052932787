import { type JudgedPassword, ratePassword } from '@svc/password-strength';
import { translations as en } from '@zxcvbn-ts/language-en';
import { translations as it } from '@zxcvbn-ts/language-it';

/** Question to the worker, with a number that its answer repeats. */
export interface StrengthQuestion extends JudgedPassword {
  readonly id: number;
  readonly locale: 'en' | 'it';
}

/** Answer of the worker: the strength of the password, with reasons in the language of the question. */
export interface StrengthAnswer {
  readonly id: number;
  readonly score: number;
  readonly fault: 'common' | 'own' | 'guessable' | undefined;
  readonly warning: string | undefined;
  readonly suggestion: string | undefined;
}

const texts = { en, it };

const answer = ({ id, locale, ...judged }: StrengthQuestion): StrengthAnswer => {
  const { score, fault, warning, suggestions } = ratePassword(judged);
  const warnings: Readonly<Record<string, string>> = texts[locale].warnings;
  const advice: Readonly<Record<string, string>> = texts[locale].suggestions;
  return { id, score, fault, warning: warnings[warning ?? ''], suggestion: advice[suggestions[0] ?? ''] };
};

self.addEventListener('message', ({ data }: MessageEvent<StrengthQuestion>) => self.postMessage(answer(data)));
