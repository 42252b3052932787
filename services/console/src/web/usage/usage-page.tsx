import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted, useMay } from '../access/index.ts';
import { useApi, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, ButtonLink, describeError, Page, SelectField, saveFile, useNow } from '../ui/index.ts';
import { RequestsCard } from './requests-card.tsx';
import { UsageChartCard } from './usage-chart-card.tsx';
import { RANGES, readFilter, STATUSES, toQuery, type UsageFilter, writeFilter } from './usage-filter.ts';

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
