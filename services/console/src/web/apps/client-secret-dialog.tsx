import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { OnceOnlyDialog } from '../overlays/index.ts';
import { Secret } from '../ui/index.ts';
import { ClientId } from './client-id.tsx';

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
