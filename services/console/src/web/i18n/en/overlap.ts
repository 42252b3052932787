/** Replacing a secret while the old one stays valid for a time. */
export const overlap = {
  label: 'The old secret keeps working',
  choices: { hour: 'For an hour', day: 'For a day', week: 'For a week', now: 'Not at all' },
  rotate: 'Replace it',
  rotating: 'Replacing…',
  until: (date: string) => `The old secret works until ${date}.`,
  ended: 'The old secret has stopped working.',
};
