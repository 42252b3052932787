import { Menu } from '@base-ui/react/menu';
import { type ReactElement, useRef } from 'react';
import { useLocation } from 'wouter';
import { type ItemOf, useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';
import { Icon } from '../ui/index.ts';
import { MenuChoices } from './account-menu.tsx';

/** Accounts that a person may act for. Organizations change rarely; switching reads them again. */
const STALE_AFTER_MS = 5 * 60_000;

type Organization = ItemOf<'listOrganizations'>;

export interface OwnOrganizations {
  /** Name of the account that is signed in. */
  readonly ownName: string;
  /** Organization that the person acts for; undefined for the account that is signed in. */
  readonly present: Organization | undefined;
  /** Organizations beside the account that is signed in. Empty until they are known. */
  readonly others: readonly Organization[];
}

/** Returns the accounts that the person may act for. */
export const useOrganizations = (): OwnOrganizations => {
  const account = useAccount();
  const list = useApiQuery('listOrganizations', {}, { staleTime: STALE_AFTER_MS });
  const present = foreignOrganizationOf(account);
  const listed = list.data?.data.filter(({ id }) => id !== account.svc_user_id);
  return {
    ownName: account.business_name ?? account.display_name ?? account.email,
    present,
    others: listed ?? (present === undefined ? [] : [present]),
  };
};

/** Renders the account that the pages are about, on the button that changes it. */
export const OrganizationLabel = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  const { ownName, present } = useOrganizations();
  return (
    <>
      <span className="visually-hidden">{shell.actFor}: </span>
      <span className="organization-name">
        <span>{present?.name ?? ownName}</span>
        <span className="hint">{present === undefined ? shell.ownAccount : shell.roles[present.role]}</span>
      </span>
      <Icon name="chevron" />
    </>
  );
};

/** The account that is signed in, among those of the menu. */
const OWN = '';

/** Renders the open menu of accounts to act for. Once loaded, it stays beside its button. */
export const OrganizationMenu = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  const { ownName, present, others } = useOrganizations();
  const [, navigate] = useLocation();
  const container = useRef<HTMLDivElement>(null);
  const names: Record<string, string> = { [OWN]: `${ownName} · ${shell.ownAccount}` };
  for (const { id, name, role } of others) names[id] = `${name} · ${shell.roles[role]}`;
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className="account-trigger organization-trigger">
        <OrganizationLabel />
      </Menu.Trigger>
      <div ref={container} />
      <Menu.Portal container={container}>
        <Menu.Positioner className="menu-positioner" sideOffset={8} align="start">
          <Menu.Popup className="menu">
            <MenuChoices
              label={shell.actFor}
              value={present?.id ?? OWN}
              names={names}
              values={[OWN, ...others.map(({ id }) => id)]}
              onChange={(id) => navigate(linkTo(id === OWN ? undefined : id))}
              closesMenu
            />
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
};
