import { lazy, type ReactElement, Suspense, useEffect, useState } from 'react';
import { useI18n } from '../i18n/index.ts';

const PaletteDialog = lazy(async () => ({ default: (await import('./palette-dialog.tsx')).PaletteDialog }));

/** The button of the command palette, which ⌘K and Ctrl+K open as well. */
export const Palette = (): ReactElement => {
  const { palette } = useI18n().messages;
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // Another dialog keeps what is typed in it.
      setOpen((is) => is || document.querySelector('.dialog, .drawer') === null);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button
        type="button"
        className="palette-button"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        {palette.open}
        <span className="palette-keys" aria-hidden="true">
          {navigator.userAgent.includes('Mac') ? '⌘K' : 'Ctrl K'}
        </span>
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <PaletteDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
};
