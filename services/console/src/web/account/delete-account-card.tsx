import { type ReactElement, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button, Card } from '../ui/index.ts';
import { DeleteAccountDialog } from './delete-account-dialog.tsx';

/** Links to the deletion of the account. */
export const DeleteAccountCard = (): ReactElement => {
  const { ownData: texts } = useI18n().messages;
  const [isDeleting, setDeleting] = useState(false);
  return (
    <Card title={texts.delete} lead={texts.deleteText} tone="danger">
      <Button onClick={() => setDeleting(true)}>{texts.delete}</Button>
      {isDeleting && <DeleteAccountDialog onClose={() => setDeleting(false)} />}
    </Card>
  );
};
