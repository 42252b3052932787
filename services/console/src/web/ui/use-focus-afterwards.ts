import { useEffect } from 'react';

/** Moves the focus to the page after the component is gone, if its action removed the button that had the focus. */
export const useFocusAfterwards = (): void => useEffect(() => keepFocusAfterwards, []);

const keepFocusAfterwards = (): void => {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true });
  });
};
