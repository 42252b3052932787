import { Menu } from '@base-ui/react/menu';
import type { Locale } from '@svc/contracts';
import { type ReactElement, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import type { Theme } from '../preferences.ts';
import { useAccount, useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { describeError, Icon } from '../ui/index.ts';
import { useTheme } from './signed-out-layout.tsx';

/** Renders the label of the account menu's button. `busyLabel` replaces the name. */
export const AccountLabel = ({ busyLabel }: { busyLabel?: string | undefined }): ReactElement => {
  const { shell } = useCoreI18n().messages;
  const account = useAccount();
  const name = account.business_name ?? account.display_name ?? account.email;
  return (
    <>
      <span className="visually-hidden">{shell.account}: </span>
      <span className="account-initial" aria-hidden="true">
        {[...name][0]?.toUpperCase()}
      </span>
      <span className="account-name">
        <span>{busyLabel ?? name}</span>
        {name !== account.email && <span className="hint">{account.email}</span>}
      </span>
      <Icon name="chevron" />
    </>
  );
};

/** Renders a group of choices in a menu, one of them selected. */
export const MenuChoices = <T extends string>({
  label,
  value,
  values,
  names,
  onChange,
  closesMenu = false,
}: {
  label: string;
  value: T;
  values: readonly T[];
  names: Readonly<Record<T, string>>;
  onChange: (value: T) => void;
  closesMenu?: boolean;
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
      <Menu.RadioItem key={item} value={item} className="menu-item" closeOnClick={closesMenu}>
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

/** Returns a function that signs out, and true while it does. A failure is shown in a toast. */
export const useSignOut = (): { readonly signOut: () => void; readonly isLeaving: boolean } => {
  const { messages, formats } = useCoreI18n();
  const session = useSession();
  const toast = useToast();
  const [isLeaving, setLeaving] = useState(false);
  const signOut = (): void => {
    setLeaving(true);
    session.signOut().catch((error: unknown) => {
      setLeaving(false);
      toast(describeError(error, messages, formats).text);
    });
  };
  return { signOut, isLeaving };
};

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
