import { texts } from './texts.ts';

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
