import type { Locale } from '@svc/contracts';
import { type PasswordOwner, passwordContext } from '@svc/password-strength/context';
import { trustedUrl } from '../trusted-url.ts';
import type { StrengthAnswer, StrengthQuestion } from './strength-worker.ts';
import workerPath from './strength-worker.ts?worker&url';

/** Rates passwords in a worker. */
interface StrengthWorker {
  /** Rates a password. A newer question replaces a waiting one, so at most two are kept. */
  readonly ask: (question: Omit<StrengthQuestion, 'id'>) => void;
  readonly stop: () => void;
}

interface StrengthTexts {
  readonly label: string;
  /** Verdicts by score. */
  readonly verdicts: readonly [string, string, string, string, string];
  readonly faults: Readonly<Record<'common' | 'own', string>>;
  readonly missing: (characters: number) => string;
}

/** Texts of the meter. Separate from all others, because pages without the console's script show it too. */
const STRENGTH_TEXTS: Readonly<Record<Locale, StrengthTexts>> = {
  en: {
    label: 'Password strength',
    verdicts: ['Very weak', 'Weak', 'Not strong enough', 'Strong', 'Very strong'],
    faults: {
      common: 'It is one of the most common passwords.',
      own: 'It is made of your address or your name.',
    },
    missing: (characters) =>
      characters === 1 ? '1 more character is needed.' : `${characters} more characters are needed.`,
  },
  it: {
    label: 'Sicurezza della password',
    verdicts: ['Debolissima', 'Debole', 'Non basta ancora', 'Sicura', 'Molto sicura'],
    faults: {
      common: 'È una delle password più usate.',
      own: 'È fatta con il tuo indirizzo o il tuo nome.',
    },
    missing: (characters) => (characters === 1 ? 'Manca 1 carattere.' : `Mancano ${characters} caratteri.`),
  },
};

const CHARACTERS_MIN = 12;
const SCORE_MAX = 4;
/** Screen readers announce the verdict after a pause in typing, not at every key. */
const ANNOUNCE_AFTER_MS = 1_000;

export interface MeterOptions {
  readonly field: HTMLInputElement;
  /** Empty element that the meter fills. */
  readonly slot: HTMLElement;
  readonly locale: Locale;
  /** Called at each key, because the owner may be typed in the same form. */
  readonly owner: () => PasswordOwner;
}

/** Shows the strength of the typed password below a field, with reasons. Returns a function that removes the meter. */
export const attachMeter = ({ field, slot, locale, owner }: MeterOptions): (() => void) => {
  const view = createView(slot, locale);
  const worker = startStrengthWorker((answer) => view.show(answer, [...field.value].length));
  const rate = (): void => {
    if (field.value === '') view.hide();
    else worker.ask({ password: field.value, context: passwordContext(owner()), locale });
  };
  field.addEventListener('input', rate);
  rate();
  return () => {
    field.removeEventListener('input', rate);
    worker.stop();
    view.remove();
  };
};

const createView = (slot: HTMLElement, locale: Locale) => {
  const texts = STRENGTH_TEXTS[locale];
  const meter = create('strength-track', { role: 'meter', 'aria-label': texts.label, 'aria-valuemin': '0' });
  meter.setAttribute('aria-valuemax', `${SCORE_MAX}`);
  meter.append(...Array.from({ length: SCORE_MAX }, () => create('strength-step')));
  const verdict = create('strength-verdict');
  const reason = create('strength-reason');
  const text = create('strength-text', { 'aria-hidden': 'true' });
  text.append(verdict, ' ', reason);
  const status = create('visually-hidden', { role: 'status' });
  const box = create('strength', { hidden: '' });
  box.append(meter, text);
  // The status must be in the page before its text, or screen readers do not announce it.
  slot.replaceChildren(box, status);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const announce = (words: string): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      status.textContent = words;
    }, ANNOUNCE_AFTER_MS);
  };
  return {
    show: (answer: StrengthAnswer, characters: number): void => {
      const isShort = characters < CHARACTERS_MIN;
      // A short password is refused, however hard it is to guess.
      const score = isShort ? Math.min(answer.score, 2) : answer.score;
      const why = reasonOf(answer, isShort ? texts.missing(CHARACTERS_MIN - characters) : undefined, texts.faults);
      box.hidden = false;
      box.dataset['score'] = `${score}`;
      verdict.textContent = `${texts.verdicts[score] ?? ''}.`;
      reason.textContent = why;
      meter.setAttribute('aria-valuenow', `${score}`);
      meter.setAttribute('aria-valuetext', texts.verdicts[score] ?? '');
      announce(`${texts.label}: ${texts.verdicts[score]}. ${why}`);
    },
    hide: (): void => {
      box.hidden = true;
      announce('');
    },
    remove: (): void => {
      clearTimeout(timer);
      slot.replaceChildren();
    },
  };
};

const reasonOf = (
  { fault, warning, suggestion }: StrengthAnswer,
  missing: string | undefined,
  faults: Readonly<Record<'common' | 'own', string>>,
): string => {
  const known = fault === 'common' || fault === 'own' ? faults[fault] : warning;
  return [missing, known, missing === undefined ? suggestion : undefined]
    .filter((part) => part !== undefined)
    .join(' ');
};

const create = (className: string, attributes: Readonly<Record<string, string>> = {}): HTMLElement => {
  const element = document.createElement('span');
  element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

/** Starts the worker, which loads the dictionaries. Calls `onAnswer` only for the newest question. */
const startStrengthWorker = (onAnswer: (answer: StrengthAnswer) => void): StrengthWorker => {
  const worker = new Worker(trustedUrl(workerPath), { type: 'module' });
  let newest = 0;
  let isBusy = false;
  let waiting: StrengthQuestion | undefined;
  const send = (question: StrengthQuestion): void => {
    isBusy = true;
    worker.postMessage(question);
  };
  worker.addEventListener('message', ({ data }: MessageEvent<StrengthAnswer>) => {
    isBusy = false;
    if (data.id === newest) onAnswer(data);
    if (waiting !== undefined) send(waiting);
    waiting = undefined;
  });
  return {
    ask: (asked) => {
      newest += 1;
      const question = { ...asked, id: newest };
      if (isBusy) waiting = question;
      else send(question);
    },
    stop: () => worker.terminate(),
  };
};
