import { auditActions } from '@svc/contracts/roles';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { type ItemOf, useApi, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, describeError, Page, PagesCard, SelectField, saveFile, Table, TextField, Time } from '../ui/index.ts';
import { type AuditFilter, readFilter, toQuery, writeFilter } from './audit-filter.ts';

type AuditEntry = ItemOf<'listAuditLog'>;

const PAGE_ENTRIES = 50;
const FILE_NAME = 'audit-log.csv';

/** Lists what was done for the organization, newest first. The filter is in the page's address. */
export const AuditPage = (): ReactElement => {
  const { audit } = useI18n().messages;
  const { call } = useApi();
  const [search, setSearch] = useSearchParams();
  const filter = readFilter(search);
  const query = toQuery(filter);
  const isReversed = isReversedPeriod(filter);
  const pages = useInfiniteQuery({
    queryKey: ['listAuditLog', query],
    enabled: !isReversed,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      call('listAuditLog', { query: { ...query, limit: PAGE_ENTRIES, after: pageParam } }, signal),
    getNextPageParam: ({ data, has_more }) => (has_more ? data.at(-1)?.id : undefined),
  });
  return (
    <Page title={audit.title} lead={audit.lead} actions={<DownloadButton filter={filter} />}>
      <Filters filter={filter} onChange={(next) => setSearch(writeFilter(next), { replace: true })} />
      {!isReversed && (
        <PagesCard title={audit.acts} lead={audit.actsLead} empty={audit.none} pages={pages}>
          {(entries) => <AuditTable entries={entries} />}
        </PagesCard>
      )}
    </Page>
  );
};

/** Returns true for a period that ends before it begins. */
const isReversedPeriod = ({ from, to }: AuditFilter): boolean => from !== '' && to !== '' && from > to;

const Filters = ({
  filter,
  onChange,
}: {
  filter: AuditFilter;
  onChange: (filter: AuditFilter) => void;
}): ReactElement => {
  const { audit, usage, memberUsage } = useI18n().messages;
  const members = useApiQuery('listMembers', {});
  const known = members.data?.data.map(({ svc_user_id: value, name: label }) => ({ value, label })) ?? [];
  const { actor } = filter;
  // The filter always shows what it does.
  const chosen = actor === '' || known.some(({ value }) => value === actor) ? [] : [{ value: actor, label: actor }];
  return (
    <fieldset className="filters">
      <legend className="visually-hidden">{usage.filters}</legend>
      <SelectField
        label={audit.columns.actor}
        value={actor}
        onChange={(next) => onChange({ ...filter, actor: next })}
        options={[{ value: '', label: audit.allActors }, ...known, ...chosen]}
      />
      <SelectField
        label={audit.columns.action}
        value={filter.action}
        onChange={(action) => onChange({ ...filter, action })}
        options={[
          { value: '' as const, label: audit.allActions },
          ...auditActions.map((value) => ({ value, label: audit.actions[value] })),
        ]}
      />
      <TextField
        type="date"
        label={memberUsage.from}
        value={filter.from}
        onChange={(from) => onChange({ ...filter, from })}
      />
      <TextField
        type="date"
        label={memberUsage.to}
        value={filter.to}
        onChange={(to) => onChange({ ...filter, to })}
        fault={isReversedPeriod(filter) ? memberUsage.reversed : undefined}
      />
    </fieldset>
  );
};

const AuditTable = ({ entries }: { entries: readonly AuditEntry[] }): ReactElement => {
  const { audit, members } = useI18n().messages;
  const { columns } = audit;
  return (
    <Table
      label={audit.acts}
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { title: columns.time, isHeader: true, render: ({ at }) => <Time at={at} exact="seconds" /> },
        {
          title: columns.actor,
          isName: true,
          render: ({ actor }) => (actor === null ? audit.operator : (actor.name ?? members.erased)),
        },
        { title: columns.action, render: ({ action }) => audit.actions[action] },
        {
          title: columns.target,
          isName: true,
          render: ({ target }) => target.name ?? <code>{target.id ?? target.type}</code>,
        },
        { title: columns.source, render: ({ source }) => audit.sources[source] },
      ]}
    />
  );
};

/** Saves all acts of a filter as one CSV file. */
const DownloadButton = ({ filter }: { filter: AuditFilter }): ReactElement => {
  const { messages, formats } = useI18n();
  const { download } = useApi();
  const toast = useToast();
  const { isPending, mutate } = useMutation({
    mutationFn: () => download('listAuditLog', { query: toQuery(filter) }, 'text/csv'),
    onSuccess: (file) => saveFile(file, FILE_NAME),
    onError: (error) => toast(describeError(error, messages, formats).text),
  });
  return (
    <Button busyLabel={isPending ? messages.usage.downloading : undefined} onClick={() => mutate()}>
      {messages.usage.download}
    </Button>
  );
};
