import type { Role } from '@svc/contracts';
import { roles } from '@svc/contracts/roles';
import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import { ChoiceField } from '../ui/index.ts';

/** Renders the roles that the person may give, each explained in one line. Only owners make owners. */
export const RoleChoice = ({ value, onChange }: { value: Role; onChange: (role: Role) => void }): ReactElement => {
  const { members, shell } = useI18n().messages;
  const isOwner = useAccount().organization?.role === 'owner';
  return (
    <ChoiceField
      label={members.columns.role}
      value={value}
      onChange={onChange}
      options={roles
        .filter((role) => role !== 'owner' || isOwner)
        .map((role) => ({ value: role, label: shell.roles[role], hint: members.roleHints[role] }))}
    />
  );
};
