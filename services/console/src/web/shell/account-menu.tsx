import { Menu } from '@base-ui/react/menu';
import type { Locale } from '@svc/contracts';
import { type ReactElement, useRef } from 'react';
import { Link } from 'wouter';
import { useCoreI18n } from '../i18n/index.ts';
import type { Theme } from '../preferences.ts';
import { Icon } from '../ui/index.ts';
import { AccountLabel } from './account-label.tsx';
import { useTheme } from './theme.tsx';
import { useSignOut } from './use-sign-out.ts';

const LOCALES: readonly Locale[] = ['it', 'en'];
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Renders the open account menu: language, theme and sign-out. Once loaded, it stays beside its button. */
export const AccountMenu = (): ReactElement => {
  const { messages, locale, setLocale } = useCoreI18n();
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
              onChange={setLocale}
            />
            <MenuChoices label={shell.theme} value={theme} names={shell.themes} values={THEMES} onChange={setTheme} />
            <Menu.Separator className="menu-separator" />
            <Menu.LinkItem className="menu-item" closeOnClick render={<Link to="/account" />}>
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

const MenuChoices = <T extends string>({
  label,
  value,
  values,
  names,
  onChange,
}: {
  label: string;
  value: T;
  values: readonly T[];
  names: Readonly<Record<T, string>>;
  onChange: (value: T) => void;
}): ReactElement => (
  <Menu.RadioGroup
    value={value}
    onValueChange={(next: unknown) => {
      const chosen = values.find((item) => item === next);
      if (chosen !== undefined) onChange(chosen);
    }}
  >
    <Menu.GroupLabel className="menu-label">{label}</Menu.GroupLabel>
    {values.map((item) => (
      <Menu.RadioItem key={item} value={item} className="menu-item" closeOnClick={false}>
        <span className="menu-check">
          <Menu.RadioItemIndicator>
            <Icon name="check" />
          </Menu.RadioItemIndicator>
        </span>
        {names[item]}
      </Menu.RadioItem>
    ))}
  </Menu.RadioGroup>
);
