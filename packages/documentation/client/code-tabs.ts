import { CODE_TAB_KEY, readChoice, writeChoice } from './choices.ts';

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
