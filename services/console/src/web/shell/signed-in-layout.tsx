import { type ComponentType, type KeyboardEvent, type ReactElement, type ReactNode, useState } from 'react';
import { useOutage } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { type Command, Palette } from '../palette/index.ts';
import type { Theme } from '../preferences.ts';
import { AccountNameContext, Icon, useNow, useOnDemand } from '../ui/index.ts';
import { AccountLabel } from './account-label.tsx';
import { Brand } from './brand.tsx';
import { Navigation } from './navigation.tsx';
import { OrganizationLabel } from './organization-label.tsx';
import { useTheme } from './theme.tsx';
import { LOCALES, useLanguage } from './use-language.ts';
import { useOrganizations } from './use-organizations.ts';
import { useSignOut } from './use-sign-out.ts';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Returns what the command palette does without another page. */
const useActs = (): readonly Command[] => {
  const { palette, shell } = useCoreI18n().messages;
  const { setTheme } = useTheme();
  const { locale, setLanguage } = useLanguage();
  const { signOut } = useSignOut();
  const { ownName, present, others } = useOrganizations();
  const accounts = others.length === 0 ? [] : [{ id: undefined, name: ownName }, ...others];
  return [
    ...accounts
      .filter(({ id }) => id !== present?.id)
      .map(({ id, name }) => ({ to: linkTo(id), label: shell.actForAccount(name), group: palette.acts })),
    ...THEMES.map((theme) => ({
      label: palette.theme(shell.themes[theme]),
      group: palette.acts,
      run: () => setTheme(theme),
    })),
    ...LOCALES.filter((other) => other !== locale).map((other) => ({
      label: palette.language(shell.locales[other]),
      group: palette.acts,
      run: () => setLanguage(other),
    })),
    { label: shell.signOut, group: palette.acts, run: signOut },
  ];
};

const WIDE = '(min-width: 60rem)';

/** Renders the frame of an account's pages: navigation at the side, or behind a button on narrow screens. */
export const SignedInLayout = ({ children }: { children: ReactNode }): ReactElement => {
  const { messages } = useCoreI18n();
  const { ownName, present, others } = useOrganizations();
  return (
    <div className="layout">
      <a className="skip-link" href="#content">
        {messages.common.skipToContent}
      </a>
      <header className="side">
        <Brand />
        <OrganizationButton />
        <Palette acts={useActs()} />
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
        <AccountNameContext value={others.length > 0 ? (present?.name ?? ownName) : undefined}>
          {children}
        </AccountNameContext>
      </main>
    </div>
  );
};

/** Shows that the page is outdated while the service cannot be reached. */
const OutageBar = (): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { shell } = messages;
  const outage = useOutage();
  const now = useNow();
  // Screen readers announce a status only if its element existed before its text.
  return (
    <div className="outage" role="status">
      {outage !== undefined && (
        <p>
          <Icon name="alert" />
          <span>
            <strong>{shell.outage}</strong>{' '}
            {outage.readAt === undefined
              ? shell.outageEmpty
              : shell.outageAge(formats.relative(new Date(outage.readAt), now))}
          </span>
        </p>
      )}
    </div>
  );
};

const loadMenu = async () => (await import('./account-menu.tsx')).AccountMenu;

/** The button of the account's menu. */
const AccountButton = (): ReactElement => (
  <MenuButton load={loadMenu} className="account-trigger">
    <AccountLabel />
  </MenuButton>
);

const loadOrganizations = async () => (await import('./organization-menu.tsx')).OrganizationMenu;

/** Names the account that the pages are about, and changes it. Nothing changes for a person without an organization. */
const OrganizationButton = (): ReactNode =>
  useOrganizations().others.length > 0 && (
    <MenuButton load={loadOrganizations} className="account-trigger organization-trigger">
      <OrganizationLabel />
    </MenuButton>
  );

/** The button of a menu, whose script is loaded when the pointer or the focus comes near. */
const MenuButton = ({
  load,
  className,
  children,
}: {
  load: () => Promise<ComponentType>;
  className: string;
  children: ReactNode;
}): ReactElement => {
  const { component: OpenMenu, isLoading, request, warm } = useOnDemand(load);
  if (OpenMenu !== undefined) return <OpenMenu />;
  const openByArrow = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    void request();
  };
  return (
    <button
      type="button"
      className={className}
      aria-haspopup="menu"
      aria-expanded={false}
      aria-busy={isLoading || undefined}
      data-popup-open={isLoading ? '' : undefined}
      onPointerEnter={warm}
      onFocus={warm}
      onKeyDown={openByArrow}
      onClick={() => void request()}
    >
      {children}
    </button>
  );
};

const loadDrawer = async () => (await import('./navigation-drawer.tsx')).NavigationDrawer;

/** Opens the navigation on narrow screens. */
const NavigationButton = (): ReactElement => {
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
