import { Dialog } from '@base-ui/react/dialog';
import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon } from '../ui/index.ts';
import { Navigation } from './navigation.tsx';

/** Renders the navigation over the page. */
export const NavigationDrawer = ({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}): ReactElement => {
  const { common, shell } = useCoreI18n().messages;
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer" aria-label={shell.navigation}>
          <Dialog.Close className="icon-button drawer-close" aria-label={common.close}>
            <Icon name="close" />
          </Dialog.Close>
          <Navigation onNavigate={() => onOpenChange(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};
