import { type ReactElement, useState } from 'react';
import { Permitted } from '../access/index.ts';
import { useApiQuery } from '../api/index.ts';
import { type Formats, type Messages, useI18n } from '../i18n/index.ts';
import { DownloadReceipt } from '../receipts.tsx';
import { useAccount } from '../session/index.ts';
import {
  Badge,
  Button,
  ButtonLink,
  Card,
  EmptyState,
  ErrorNotice,
  Facts,
  Loading,
  LoadMore,
  Money,
  Table,
  Time,
} from '../ui/index.ts';
import type { UsageRecord } from './daily-usage.ts';
import type { UsageFilter } from './usage-filter.ts';
import { useUsagePages } from './use-usage.ts';

const FALLBACK_CURRENCY = 'EUR';

/** Requests one by one, newest first. */
export const RequestsCard = ({
  filter,
  now,
  names,
}: {
  filter: UsageFilter;
  now: Date;
  names: ReadonlyMap<string, string>;
}): ReactElement => {
  const { usage } = useI18n().messages;
  const wallet = useApiQuery('getWallet', {});
  const pages = useUsagePages(filter, now);
  const records = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Card title={usage.requests}>
      {pages.isPending && <Loading lines={6} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && records.length === 0 && (
        <EmptyState
          icon="usage"
          title={usage.emptyTitle}
          text={usage.emptyText}
          action={
            <Permitted to="listKeys">
              <ButtonLink to="/keys">{usage.toKeys}</ButtonLink>
            </Permitted>
          }
        />
      )}
      {records.length > 0 && (
        <>
          <RequestsTable records={records} names={names} currency={wallet.data?.currency ?? FALLBACK_CURRENCY} />
          <LoadMore pages={pages} end={usage.end} />
        </>
      )}
    </Card>
  );
};

const RequestsTable = ({
  records,
  names,
  currency,
}: {
  records: readonly UsageRecord[];
  names: ReadonlyMap<string, string>;
  currency: string;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { usage, common } = messages;
  const { columns } = usage;
  const isOfOrganization = useAccount().organization !== null;
  const [openId, setOpenId] = useState<string>();
  const count = (tokens: number | null): string => (tokens === null ? '–' : formats.number(tokens));
  return (
    <Table
      label={usage.requests}
      rows={records}
      keyOf={(record) => record.request_id}
      columns={[
        { title: columns.time, isHeader: true, render: (record) => <Time at={record.started_at} exact="seconds" /> },
        {
          title: columns.key,
          isName: true,
          // In an organization it may be the key of another member.
          render: ({ key_id }) => names.get(key_id) ?? (isOfOrganization ? <code>{key_id}</code> : usage.deletedKey),
        },
        {
          title: columns.model,
          render: ({ model, service }) => (model === null ? common.services[service] : <code>{model}</code>),
        },
        {
          title: columns.tokens,
          isNumber: true,
          render: (record) => `${count(record.input_tokens)} / ${count(record.output_tokens)}`,
        },
        {
          title: columns.cost,
          isNumber: true,
          render: ({ cost_micros }) =>
            cost_micros === null ? common.none : <Money micros={cost_micros} currency={currency} isFine />,
        },
        {
          title: columns.status,
          render: ({ status }) => <Badge tone={status < 400 ? 'good' : 'bad'}>{String(status)}</Badge>,
        },
        { title: columns.duration, isNumber: true, render: (record) => formats.duration(record.duration_ms) },
        {
          title: usage.details,
          isAction: true,
          render: ({ request_id }) => (
            <Button
              small
              variant="quiet"
              aria-expanded={openId === request_id}
              aria-label={usage.detailsOf(request_id)}
              onClick={() => setOpenId(openId === request_id ? undefined : request_id)}
            >
              {usage.details}
            </Button>
          ),
        },
      ]}
      detailsOf={(record) =>
        record.request_id === openId && (
          <div className="stack">
            <Facts items={detailsOf(record, { messages, formats, currency })} />
            {record.state !== 'reserved' && <DownloadReceipt requestId={record.request_id} />}
          </div>
        )
      }
    />
  );
};

const detailsOf = (
  record: UsageRecord,
  { messages, formats, currency }: { messages: Messages; formats: Formats; currency: string },
) => {
  const { usage, common } = messages;
  return [
    [usage.fields.request, <code key="id">{record.request_id}</code>],
    [usage.columns.cost, record.cost_micros === null ? common.none : formats.money(record.cost_micros, currency)],
    [usage.fields.service, common.services[record.service]],
    [usage.fields.provider, record.provider ?? common.none],
    [usage.fields.upstreamModel, record.upstream_model ?? common.none],
    [usage.fields.route, record.route_id ?? common.none],
    [usage.fields.zone, record.data_zone ?? common.none],
    [usage.fields.region, record.ingress_region],
    [usage.fields.upstream, <code key="upstream">{record.upstream_request_id ?? common.none}</code>],
    [usage.fields.streamed, record.streamed ? common.yes : common.no],
    [usage.fields.firstEvent, record.first_event_ms === null ? common.none : formats.duration(record.first_event_ms)],
    [usage.fields.state, usage.states[record.state]],
  ] as const;
};
