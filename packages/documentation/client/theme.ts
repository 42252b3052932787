import { THEME_KEY, writeChoice } from './choices.ts';
import { texts } from './texts.ts';

/** Labels the button that changes the theme. A remembered theme is applied before the first paint. */
export const enableTheme = (): void => {
  const root = document.documentElement;
  const button = document.querySelector<HTMLButtonElement>('button.theme');
  if (button === null) return;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = (): boolean => (root.dataset['theme'] ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const label = (): void => {
    button.textContent = isDark() ? texts.light : texts.dark;
  };
  label();
  system.addEventListener('change', label);
  button.addEventListener('click', () => {
    root.dataset['theme'] = isDark() ? 'light' : 'dark';
    label();
    writeChoice(THEME_KEY, root.dataset['theme']);
  });
};
