import { expect, test } from 'vitest';
import { createPreferences } from './preferences.ts';

test('lasts as long as the page if storage is denied', () => {
  const preferences = createPreferences(() => {
    throw new Error('denied');
  });
  expect(preferences.theme()).toBe('system');
  preferences.setTheme('dark');
  preferences.setLocale('en');
  expect(preferences.theme()).toBe('dark');
  expect(preferences.locale()).toBe('en');
  expect(preferences.firstStepsHiddenBy()).toBeUndefined();
  preferences.hideFirstSteps('usr_1');
  expect(preferences.firstStepsHiddenBy()).toBe('usr_1');
});
