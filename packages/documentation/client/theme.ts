/** The console's own key: who has chosen a look there has chosen it here. */
const KEY = 'svc.theme';

/** Takes the look that was chosen, and shows the button that changes it. */
export const enableTheme = (): void => {
  const root = document.documentElement;
  const chosen = read();
  if (chosen === 'light' || chosen === 'dark') root.dataset['theme'] = chosen;
  const button = document.querySelector<HTMLButtonElement>('button.theme');
  if (button === null) return;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = (): boolean => (root.dataset['theme'] ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const label = (): void => {
    button.textContent = isDark() ? 'Light' : 'Dark';
  };
  label();
  system.addEventListener('change', label);
  button.hidden = false;
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
    // Denied or full: the page keeps it.
  }
};
