import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon } from '../ui/index.ts';
import { useOrganizations } from './use-organizations.ts';

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
