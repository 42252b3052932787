import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { OnceOnlyDialog } from '../overlays/index.ts';
import { Secret } from '../ui/index.ts';

/** Shows a new signing secret once. */
export const SigningSecretDialog = ({
  value,
  note,
  onClose,
}: {
  value: string;
  note?: string;
  onClose: () => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  return (
    <OnceOnlyDialog title={webhooks.secretTitle} doneLabel={webhooks.secretDone} onClose={onClose}>
      <Secret label={webhooks.secretLabel} text={webhooks.secretText} value={value} />
      {note !== undefined && <p className="hint">{note}</p>}
    </OnceOnlyDialog>
  );
};
