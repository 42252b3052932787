import type { ReactElement, ReactNode } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Palette } from '../palette/index.ts';
import { AccountButton } from './account-button.tsx';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import { NavigationButton } from './navigation-button.tsx';
import { OutageBar } from './outage-bar.tsx';

/** Renders the frame of an account's pages: navigation at the side, or behind a button on narrow screens. */
export const SignedInLayout = ({ children }: { children: ReactNode }): ReactElement => {
  const { messages } = useCoreI18n();
  return (
    <div className="layout">
      <a className="skip-link" href="#content">
        {messages.common.skipToContent}
      </a>
      <header className="side">
        <Brand />
        <Palette />
        <div className="side-navigation">
          <Navigation />
        </div>
        <div className="side-account">
          <AccountButton />
        </div>
        <NavigationButton />
      </header>
      <main id="content" tabIndex={-1}>
        <OutageBar />
        {children}
      </main>
    </div>
  );
};
