import { type ReactElement, useEffect, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { useOnDemand } from '../ui/index.ts';
import type { Command } from './find-commands.ts';

const loadDialog = async () => (await import('./palette-dialog.tsx')).PaletteDialog;

/** Renders the button of the command palette, which ⌘K and Ctrl+K open as well. */
export const Palette = ({ acts }: { acts: readonly Command[] }): ReactElement => {
  const { palette } = useCoreI18n().messages;
  const { component: PaletteDialog, request, warm } = useOnDemand(loadDialog);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (isOpen) void request().then((isLoaded) => !isLoaded && setOpen(false));
  }, [isOpen, request]);
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // Does not interrupt typing in another dialog.
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
        onPointerEnter={warm}
        onClick={() => setOpen(true)}
      >
        {palette.open}
        <span className="palette-keys" aria-hidden="true">
          {navigator.userAgent.includes('Mac') ? '⌘K' : 'Ctrl K'}
        </span>
      </button>
      {isOpen && PaletteDialog === undefined && <div className="backdrop" />}
      {isOpen && PaletteDialog !== undefined && <PaletteDialog acts={acts} onClose={() => setOpen(false)} />}
    </>
  );
};
