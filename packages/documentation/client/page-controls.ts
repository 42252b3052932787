import { CODE_TAB_KEY, readChoice, THEME_KEY, writeChoice } from './choices.ts';
import { texts } from './texts.ts';

/** Makes one choice of language hold for all examples, on this page and on the next. */
export const enableCodeTabs = (): void => {
  const remembered = readChoice(CODE_TAB_KEY);
  if (remembered !== null) checkEverywhere(remembered);
  // The radio buttons show the choice from here on.
  delete document.documentElement.dataset['codeTab'];
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.closest('.tab-strip') === null) return;
    writeChoice(CODE_TAB_KEY, target.value);
    const before = target.getBoundingClientRect().top;
    checkEverywhere(target.value);
    // Examples above may have changed their height: the chosen one stays under the pointer.
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
  });
};

const checkEverywhere = (tab: string): void => {
  for (const input of document.querySelectorAll<HTMLInputElement>('.tab-strip input')) {
    if (input.value === tab) input.checked = true;
  }
};

const SHOWN_MS = 1_500;

/** Makes the copy buttons of code blocks work. */
export const enableCopyButtons = (): void => {
  for (const button of document.querySelectorAll<HTMLButtonElement>('figure.code button.copy')) {
    const code = button.parentElement?.querySelector('code')?.textContent ?? '';
    button.addEventListener('click', () => void copy(button, code));
  }
};

const copy = async (button: HTMLButtonElement, code: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(`${code}\n`);
    button.textContent = texts.copied;
  } catch {
    // The clipboard needs https and a permission.
    button.textContent = texts.select;
  }
  setTimeout(() => {
    button.textContent = texts.copy;
  }, SHOWN_MS);
};

/** Width for navigation beside the text, as in the stylesheet. */
const WIDE = '(width >= 60rem)';

/** Opens the navigation on wide screens, where the stylesheet shows it in most browsers anyway. */
export const enableMenu = (): void => {
  const menu = document.querySelector<HTMLDetailsElement>('details.menu');
  if (menu === null) return;
  const wide = matchMedia(WIDE);
  const follow = (): void => {
    menu.open = wide.matches;
  };
  follow();
  wide.addEventListener('change', follow);
};

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

/** Address in the examples: that of a copy on the reader's own machine. */
const EXAMPLE = 'http://127.0.0.1:8080';

/** Puts the address of this server into the examples, where a reader would have to look it up. */
export const fillInAddress = (): void => {
  if (location.origin === EXAMPLE) return;
  for (const code of document.querySelectorAll('figure.code code')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      if (text.nodeValue?.includes(EXAMPLE)) text.nodeValue = text.nodeValue.replaceAll(EXAMPLE, location.origin);
    }
  }
};
