import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, Card, ErrorNotice, saveFile } from '../ui/index.ts';

const DATE_CHARACTERS = 10;

/** Downloads all data about the person. */
export const OwnDataCard = (): ReactElement => {
  const { ownData: texts } = useI18n().messages;
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
