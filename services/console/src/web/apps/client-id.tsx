import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { CopyButton } from '../ui/index.ts';

/** Shows the client id of an app, which is no secret. */
export const ClientId = ({ id }: { id: string }): ReactElement => {
  const { apps } = useI18n().messages;
  return (
    <div className="copy-row">
      <span className="hint">{apps.clientId}</span>
      <code>{id}</code>
      <CopyButton text={id} label={apps.copyClientId} />
    </div>
  );
};
