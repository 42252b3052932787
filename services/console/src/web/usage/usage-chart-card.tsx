import { decimalOf } from '@svc/contracts/format-money';
import { type ReactElement, useState } from 'react';
import { useApiQuery } from '../api/index.ts';
import { Chart, ChartPlaceholder } from '../charts/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Card, Loaded, Notice, SelectField } from '../ui/index.ts';
import { stackByDay, type UsageRead, type UsageRecord, type UsageView } from './daily-usage.ts';
import type { UsageFilter } from './usage-filter.ts';
import { CHART_RECORDS_MAX, useUsageRecords } from './use-usage.ts';

type Grouping = 'model' | 'key';

const FALLBACK_CURRENCY = 'EUR';

/** Use by day, measured and stacked as the person likes. */
export const UsageChartCard = ({
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
