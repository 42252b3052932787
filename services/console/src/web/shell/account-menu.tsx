import { Menu } from '@base-ui/react/menu';
import { type ReactElement, useRef } from 'react';
import { Link } from 'wouter';
import { useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import type { Theme } from '../preferences.ts';
import { AccountLabel } from './account-label.tsx';
import { MenuChoices } from './menu-choices.tsx';
import { useTheme } from './theme.tsx';
import { LOCALES, useLanguage } from './use-language.ts';
import { useSignOut } from './use-sign-out.ts';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Renders the open account menu: language, theme and sign-out. Once loaded, it stays beside its button. */
export const AccountMenu = (): ReactElement => {
  const { messages } = useCoreI18n();
  const { locale, setLanguage } = useLanguage();
  const { theme, setTheme } = useTheme();
  const { signOut, isLeaving } = useSignOut();
  // Placed beside its button, so that it belongs to the same landmark.
  const container = useRef<HTMLDivElement>(null);
  const { shell } = messages;
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className="account-trigger">
        <AccountLabel busyLabel={isLeaving ? shell.signingOut : undefined} />
      </Menu.Trigger>
      <div ref={container} />
      <Menu.Portal container={container}>
        <Menu.Positioner className="menu-positioner" sideOffset={8} align="start">
          <Menu.Popup className="menu">
            <MenuChoices
              label={shell.language}
              value={locale}
              names={shell.locales}
              values={LOCALES}
              onChange={setLanguage}
            />
            <MenuChoices label={shell.theme} value={theme} names={shell.themes} values={THEMES} onChange={setTheme} />
            <Menu.Separator className="menu-separator" />
            <Menu.LinkItem className="menu-item" closeOnClick render={<Link to={linkTo(undefined, '/account')} />}>
              {shell.settings}
            </Menu.LinkItem>
            <Menu.Item className="menu-item" onClick={signOut}>
              {shell.signOut}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
};
