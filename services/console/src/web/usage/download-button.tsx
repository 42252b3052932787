import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, describeError, saveFile } from '../ui/index.ts';
import { toQuery, type UsageFilter } from './usage-filter.ts';

/** Saves all records of a filter as one CSV file. */
export const DownloadButton = ({ filter, now }: { filter: UsageFilter; now: Date }): ReactElement => {
  const { messages, formats } = useI18n();
  const { download } = useApi();
  const toast = useToast();
  const { isPending, mutate } = useMutation({
    mutationFn: () => download('listGatewayUsage', { query: toQuery(filter, now) }, 'text/csv'),
    onSuccess: (file) => saveFile(file, `usage-${toQuery(filter, now).from.slice(0, 10)}.csv`),
    onError: (error) => toast(describeError(error, messages, formats).text),
  });
  return (
    <Button busyLabel={isPending ? messages.usage.downloading : undefined} onClick={() => mutate()}>
      {messages.usage.download}
    </Button>
  );
};
