import { useEffect } from 'react';

/** Moves the focus to the page once a dialog is gone, if its act removed the button to which the focus would return. */
export const useFocusAfterwards = (): void => useEffect(() => keepFocusAfterwards, []);

const keepFocusAfterwards = (): void => {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
  });
};
