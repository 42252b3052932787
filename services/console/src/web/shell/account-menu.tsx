import { Menu } from '@base-ui/react/menu';
import type { Locale } from '@svc/contracts';
import { type ReactElement, useRef, useState } from 'react';
import { Link } from 'react-router';
import { useI18n } from '../i18n/index.ts';
import type { Theme } from '../preferences.ts';
import { useAccount, useSession } from '../session/index.ts';
import { describeError, Icon, useToast } from '../ui/index.ts';
import { useTheme } from './theme.tsx';

const LOCALES: readonly Locale[] = ['it', 'en'];
const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Menu of the account: name, language, look, and sign-out. */
export const AccountMenu = (): ReactElement => {
  const { messages, formats, locale, setLocale } = useI18n();
  const { theme, setTheme } = useTheme();
  const account = useAccount();
  const session = useSession();
  const toast = useToast();
  const [isLeaving, setLeaving] = useState(false);
  // Beside its button, so that it belongs to the same landmark.
  const container = useRef<HTMLDivElement>(null);
  const { shell } = messages;
  const name = account.business_name ?? account.display_name ?? account.email;
  const signOut = (): void => {
    setLeaving(true);
    session.signOut().catch((error: unknown) => {
      setLeaving(false);
      toast(describeError(error, messages, formats).text);
    });
  };
  return (
    <Menu.Root>
      <Menu.Trigger className="account-trigger">
        <span className="visually-hidden">{shell.account}: </span>
        <span className="account-initial" aria-hidden="true">
          {[...name][0]?.toUpperCase()}
        </span>
        <span className="account-name">
          <span>{isLeaving ? shell.signingOut : name}</span>
          {name !== account.email && <span className="hint">{account.email}</span>}
        </span>
        <Icon name="chevron" />
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
