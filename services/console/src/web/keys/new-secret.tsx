import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button, Secret } from '../ui/index.ts';

/** Shows the secret of a created or rotated key once. */
export const NewSecret = ({
  value,
  note,
  onClose,
}: {
  value: string;
  note?: string;
  onClose: () => void;
}): ReactElement => {
  const { keys } = useI18n().messages;
  return (
    <>
      <Secret label={keys.secretLabel} text={keys.secretText} value={value} />
      {note !== undefined && <p className="hint">{note}</p>}
      <div className="dialog-actions">
        <Button variant="primary" onClick={onClose}>
          {keys.secretDone}
        </Button>
      </div>
    </>
  );
};
