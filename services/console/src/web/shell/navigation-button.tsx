import { type ReactElement, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon, useOnDemand } from '../ui/index.ts';

const loadDrawer = async () => (await import('./navigation-drawer.tsx')).NavigationDrawer;

const WIDE = '(min-width: 60rem)';

/** Opens the navigation on narrow screens. */
export const NavigationButton = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  const { component: NavigationDrawer, isLoading, request, warm } = useOnDemand(loadDrawer);
  const [isOpen, setOpen] = useState(false);
  // On a wider screen, the page shows its navigation at the side.
  const open = (next: boolean): void => setOpen(next && !window.matchMedia(WIDE).matches);
  return (
    <>
      <button
        type="button"
        className="icon-button side-menu"
        aria-label={shell.openMenu}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerEnter={warm}
        onFocus={warm}
        onClick={() => void request().then(open)}
      >
        <Icon name="menu" />
      </button>
      {isLoading && NavigationDrawer === undefined && <div className="backdrop" />}
      {NavigationDrawer !== undefined && <NavigationDrawer isOpen={isOpen} onOpenChange={open} />}
    </>
  );
};
