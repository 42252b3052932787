import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useApi } from '../api/index.ts';
import { Button, Card, ErrorNotice, saveFile } from '../ui/index.ts';
import { DeleteAccountDialog } from './delete-account-dialog.tsx';
import { useDataTexts } from './use-data-texts.ts';

const DATE_CHARACTERS = 10;

/** Links to the deletion of the account. */
export const DeleteAccountCard = ({ onDeleted }: { onDeleted: (erasedAt: string) => void }): ReactElement => {
  const texts = useDataTexts();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <Card title={texts.delete} lead={texts.deleteText} tone="danger">
      <Button onClick={() => setDeleting(true)}>{texts.delete}</Button>
      {isDeleting && <DeleteAccountDialog onDeleted={onDeleted} onClose={() => setDeleting(false)} />}
    </Card>
  );
};

/** Downloads all data of the account. */
export const OwnDataCard = (): ReactElement => {
  const texts = useDataTexts();
  const { download } = useApi();
  const collect = useMutation({
    mutationFn: () => download('exportAccount', {}, 'application/json'),
    onSuccess: (file) => saveFile(file, `svc-account-${new Date().toISOString().slice(0, DATE_CHARACTERS)}.json`),
  });
  return (
    <Card title={texts.title} lead={texts.exportText}>
      {collect.isError && <ErrorNotice error={collect.error} onRetry={() => collect.mutate()} />}
      <Button
        icon="download"
        busyLabel={collect.isPending ? texts.exporting : undefined}
        onClick={() => collect.mutate()}
      >
        {texts.export}
      </Button>
    </Card>
  );
};
