import { Dialog } from '@base-ui/react/dialog';
import { type ReactElement, type ReactNode, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Icon } from '../ui/index.ts';
import { AccountMenu } from './account-menu.tsx';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import { OutageBar } from './outage-bar.tsx';

const WIDE = '(min-width: 60rem)';

/** Frame of all pages of an account: navigation at the side, or behind a button where there is no room for it. */
export const SignedInLayout = ({ children }: { children: ReactNode }): ReactElement => {
  const { messages } = useI18n();
  return (
    <div className="layout">
      <a className="skip-link" href="#content">
        {messages.common.skipToContent}
      </a>
      <header className="side">
        <Brand />
        <div className="side-navigation">
          <Navigation />
        </div>
        <div className="side-account">
          <AccountMenu />
        </div>
        <NavigationDrawer />
      </header>
      <main id="content" tabIndex={-1}>
        <OutageBar />
        {children}
      </main>
    </div>
  );
};

const NavigationDrawer = (): ReactElement => {
  const { messages } = useI18n();
  const [isOpen, setOpen] = useState(false);
  // Made wider, the page shows its navigation at the side.
  const open = (next: boolean): void => setOpen(next && !window.matchMedia(WIDE).matches);
  return (
    <Dialog.Root open={isOpen} onOpenChange={open}>
      <Dialog.Trigger className="icon-button side-menu" aria-label={messages.shell.openMenu}>
        <Icon name="menu" />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="drawer" aria-label={messages.shell.navigation}>
          <Dialog.Close className="icon-button drawer-close" aria-label={messages.common.close}>
            <Icon name="close" />
          </Dialog.Close>
          <Navigation onNavigate={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};
