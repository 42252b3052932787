import type { Connection, ConnectionAuditEntry } from '@svc/contracts';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog } from '../overlays/index.ts';
import { ErrorNotice, Loading, LoadMore, Time } from '../ui/index.ts';

const PAGE_ENTRIES = 20;

/** Shows the history of a connection, newest first. */
export const HistoryDialog = ({
  connection,
  onClose,
}: {
  connection: Pick<Connection, 'app' | 'client_id'>;
  onClose: () => void;
}): ReactElement => {
  const { connections } = useI18n().messages;
  const pages = useHistory(connection.client_id);
  const entries = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Dialog onClose={onClose} title={connections.historyOf(connection.app.name)}>
      <p className="hint">{connections.historyLead}</p>
      {pages.isPending && <Loading lines={3} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && entries.length === 0 && <p>{connections.historyEmpty}</p>}
      <ul className="rows">
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ul>
      <LoadMore pages={pages} />
    </Dialog>
  );
};

const useHistory = (clientId: string) => {
  const { call } = useApi();
  return useInfiniteQuery({
    queryKey: ['listConnectionAudit', clientId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call(
        'listConnectionAudit',
        { params: { client_id: clientId }, query: { limit: PAGE_ENTRIES, after: pageParam } },
        signal,
      ),
    getNextPageParam: ({ data, has_more }) => (has_more ? data.at(-1)?.id : undefined),
  });
};

const Entry = ({ entry }: { entry: ConnectionAuditEntry }): ReactElement => {
  const { connections } = useI18n().messages;
  const from = entry.network === null ? '' : `, ${connections.from(entry.network)}`;
  return (
    <li className="row">
      <div>
        <p>{connections.actions[entry.action]}</p>
        <p className="hint">
          {connections.by[entry.client_kind]}
          {from}
        </p>
      </div>
      <span className="hint row-end">
        <Time at={entry.happened_at} exact />
      </span>
    </li>
  );
};
