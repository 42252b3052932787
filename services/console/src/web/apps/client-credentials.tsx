import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { OnceOnlyDialog } from '../overlays/index.ts';
import { CopyButton, Secret } from '../ui/index.ts';

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

/** Shows a client secret once: that of a new app with its client id, or one that replaces another. */
export const ClientSecretDialog = ({
  title,
  clientId,
  value,
  note,
  onClose,
}: {
  title?: string;
  clientId?: string;
  value: string;
  note?: string;
  onClose: () => void;
}): ReactElement => {
  const { apps } = useI18n().messages;
  return (
    <OnceOnlyDialog title={title ?? apps.newSecret} doneLabel={apps.secretDone} onClose={onClose}>
      {clientId !== undefined && <ClientId id={clientId} />}
      <Secret label={apps.secretLabel} text={apps.secretText} value={value} />
      {note !== undefined && <p className="hint">{note}</p>}
    </OnceOnlyDialog>
  );
};
