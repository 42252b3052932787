import type { PageMessages } from '../en/index.ts';

/** Replacing a secret, in Italian. */
export const overlap: PageMessages['overlap'] = {
  label: 'Il vecchio segreto resta valido',
  choices: { hour: 'Per un’ora', day: 'Per un giorno', week: 'Per una settimana', now: 'Per niente' },
  rotate: 'Sostituisci',
  rotating: 'Sostituzione…',
  until: (date) => `Il vecchio segreto vale fino al ${date}.`,
  ended: 'Il vecchio segreto non vale più.',
};
