import { decimalOf } from '@svc/contracts/format-money';
import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted, useMay } from '../access/index.ts';
import { useApi, useApiQuery } from '../api/index.ts';
import { Chart, ChartPlaceholder } from '../charts/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import {
  Button,
  ButtonLink,
  Card,
  describeError,
  Loaded,
  Notice,
  Page,
  SelectField,
  saveFile,
  useNow,
} from '../ui/index.ts';
import { stackByDay, type UsageRead, type UsageRecord, type UsageView } from './daily-usage.ts';
import { RequestsCard } from './requests-card.tsx';
import { RANGES, readFilter, STATUSES, toQuery, type UsageFilter, writeFilter } from './usage-filter.ts';
import { CHART_RECORDS_MAX, useUsageRecords } from './use-usage.ts';

type Grouping = 'model' | 'key';

const FALLBACK_CURRENCY = 'EUR';

/** Use by day, measured and stacked as the person likes. */
const UsageChartCard = ({
  filter,
  now,
  names,
}: {
  filter: UsageFilter;
  now: Date;
  /** Of keys, by id. */
  names: ReadonlyMap<string, string>;
}): ReactElement => {
  const { usage, common } = useI18n().messages;
  const records = useUsageRecords(filter, now);
  const [measure, setMeasure] = useState<UsageView['measure']>('cost');
  const [grouping, setGrouping] = useState<Grouping>('model');
  const seriesOf = ({ key_id, model, service }: UsageRecord): string =>
    grouping === 'key' ? (names.get(key_id) ?? usage.deletedKey) : (model ?? common.services[service]);
  return (
    <Card title={usage.chartTitle}>
      <div className="filters">
        <SelectField
          label={usage.measure}
          value={measure}
          onChange={setMeasure}
          options={(['cost', 'requests', 'tokens'] as const).map((value) => ({ value, label: usage.measures[value] }))}
        />
        <SelectField
          label={usage.groupBy}
          value={grouping}
          onChange={setGrouping}
          options={(['model', 'key'] as const).map((value) => ({ value, label: usage[value] }))}
        />
      </div>
      <Loaded query={records} placeholder={<ChartPlaceholder />}>
        {(read) => <DailyChart read={read} view={{ measure, range: filter.range, seriesOf }} now={now} />}
      </Loaded>
    </Card>
  );
};

const DailyChart = ({
  read,
  view,
  now,
}: {
  read: UsageRead;
  view: Omit<UsageView, 'othersName'>;
  now: Date;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { usage, charts } = messages;
  const wallet = useApiQuery('getWallet', {});
  const currency = wallet.data?.currency ?? FALLBACK_CURRENCY;
  const isCost = view.measure === 'cost';
  const { data, isWhole } = stackByDay(read, { ...view, othersName: charts.others }, now);
  return (
    <>
      {!isWhole && <Notice>{usage.chartLimited(formats.number(CHART_RECORDS_MAX))}</Notice>}
      <Chart
        label={usage.chartLabel(usage.measures[view.measure])}
        data={data}
        say={(value) => (isCost ? formats.fineMoney(value, currency) : formats.number(value))}
        sayRounded={(value) => (isCost ? formats.fineMoney(value, currency) : formats.number(value))}
        sayShort={(value) => (isCost ? formats.compactMoney(value, currency) : formats.compact(value))}
        sayExact={isCost ? decimalOf : String}
        fileName="api-usage"
      />
    </>
  );
};

/** Usage of API keys: by day, and request by request. The filter is in the page's address. */
export const UsagePage = (): ReactElement => {
  const { usage, shell } = useI18n().messages;
  const now = useNow();
  const may = useMay();
  const keys = useApiQuery('listKeys', {}, { enabled: may('listKeys') });
  const [search, setSearch] = useSearchParams();
  const filter = readFilter(search);
  const names = new Map(keys.data?.data.map(({ id, name }) => [id, name]));
  return (
    <Page
      title={usage.title}
      lead={usage.lead}
      actions={
        <>
          <Permitted to="getAlertSettings">
            <ButtonLink to="/usage/alerts">{shell.alerts}</ButtonLink>
          </Permitted>
          <DownloadButton filter={filter} now={now} />
        </>
      }
    >
      <Filters
        filter={filter}
        now={now}
        names={names}
        onChange={(next) => setSearch(writeFilter(next), { replace: true })}
      />
      <UsageChartCard filter={filter} now={now} names={names} />
      <RequestsCard filter={filter} now={now} names={names} />
    </Page>
  );
};

const Filters = ({
  filter,
  now,
  names,
  onChange,
}: {
  filter: UsageFilter;
  now: Date;
  names: ReadonlyMap<string, string>;
  onChange: (filter: UsageFilter) => void;
}): ReactElement => {
  const { usage } = useI18n().messages;
  const { from } = toQuery(filter, now);
  const used = useApiQuery('summarizeGatewayUsage', { query: { group_by: 'model', from } });
  const models = used.data?.data.flatMap((group) => ('model' in group ? [group.model] : [])) ?? [];
  return (
    <fieldset className="filters">
      <legend className="visually-hidden">{usage.filters}</legend>
      <SelectField
        label={usage.range}
        value={filter.range}
        onChange={(range) => onChange({ ...filter, range })}
        options={RANGES.map((value) => ({ value, label: usage.ranges[value] }))}
      />
      <SelectField
        label={usage.key}
        value={filter.keyId}
        onChange={(keyId) => onChange({ ...filter, keyId })}
        options={[
          { value: '', label: usage.allKeys },
          ...withSelected([...names.keys()], filter.keyId).map((id) => ({
            value: id,
            label: names.get(id) ?? usage.deletedKey,
          })),
        ]}
      />
      <SelectField
        label={usage.model}
        value={filter.model}
        onChange={(model) => onChange({ ...filter, model })}
        options={[
          { value: '', label: usage.allModels },
          ...withSelected(models, filter.model).map((model) => ({ value: model, label: model })),
        ]}
      />
      <SelectField
        label={usage.status}
        value={filter.status}
        onChange={(status) => onChange({ ...filter, status })}
        options={[
          { value: '' as const, label: usage.allStatuses },
          ...STATUSES.map((status) => ({ value: status, label: status })),
        ]}
      />
    </fieldset>
  );
};

/** Adds the selected value if the list lacks it, so that the filter always shows what it does. */
const withSelected = (values: readonly string[], selected: string): readonly string[] =>
  selected === '' || values.includes(selected) ? values : [...values, selected];

/** Saves all records of a filter as one CSV file. */
const DownloadButton = ({ filter, now }: { filter: UsageFilter; now: Date }): ReactElement => {
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
