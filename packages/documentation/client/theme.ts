import { texts } from './texts.ts';

/** The console's key, so that both share the choice. */
const KEY = 'svc.theme';

/** Applies the chosen theme and labels the button that changes it. */
export const enableTheme = (): void => {
  const root = document.documentElement;
  const chosen = read();
  if (chosen === 'light' || chosen === 'dark') root.dataset['theme'] = chosen;
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
    write(root.dataset['theme']);
  });
};

const read = (): string | null => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
};

const write = (theme: string): void => {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Storage is denied or full: the choice lasts as long as the page.
  }
};
