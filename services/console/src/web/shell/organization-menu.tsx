import { Menu } from '@base-ui/react/menu';
import { type ReactElement, useRef } from 'react';
import { useLocation } from 'wouter';
import { useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { MenuChoices } from './menu-choices.tsx';
import { OrganizationLabel } from './organization-label.tsx';
import { useOrganizations } from './use-organizations.ts';

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
