import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import { Icon } from '../ui/index.ts';

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
