import { type ReactElement, useState } from 'react';
import { useApiQuery } from '../api/index.ts';
import { type Formats, useI18n } from '../i18n/index.ts';
import { BarChart, Card, Loaded, Notice, SelectField } from '../ui/index.ts';
import { type DailyUsage, sumByDay } from './daily-usage.ts';
import type { UsageFilter } from './usage-filter.ts';
import { CHART_RECORDS_MAX, useUsageRecords } from './use-usage.ts';

type Measure = 'cost' | 'requests' | 'tokens';

const FALLBACK_CURRENCY = 'EUR';

/** Use by day, measured as the person likes. */
export const UsageChartCard = ({ filter, now }: { filter: UsageFilter; now: Date }): ReactElement => {
  const { messages, formats } = useI18n();
  const { usage } = messages;
  const wallet = useApiQuery('getWallet', {});
  const records = useUsageRecords(filter, now);
  const [measure, setMeasure] = useState<Measure>('cost');
  const currency = wallet.data?.currency ?? FALLBACK_CURRENCY;
  return (
    <Card
      title={usage.chartTitle}
      actions={
        <SelectField
          label={usage.measure}
          labelHidden
          value={measure}
          onChange={setMeasure}
          options={(['cost', 'requests', 'tokens'] as const).map((value) => ({ value, label: usage.measures[value] }))}
        />
      }
    >
      <Loaded query={records} lines={5}>
        {(read) => (
          <>
            {!read.isWhole && <Notice>{usage.chartLimited(formats.number(CHART_RECORDS_MAX))}</Notice>}
            <DailyChart days={sumByDay(read.records, filter.range, now)} measure={measure} currency={currency} />
          </>
        )}
      </Loaded>
    </Card>
  );
};

const DailyChart = ({
  days,
  measure,
  currency,
}: {
  days: readonly DailyUsage[];
  measure: Measure;
  currency: string;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { usage } = messages;
  const total = days.reduce((sum, day) => sum + day[measure], 0);
  return (
    <>
      <p className="figure-line">
        <span className="hint">{usage.chartTotal}</span> <strong>{say(total, { measure, currency, formats })}</strong>
      </p>
      <BarChart
        label={usage.chartLabel(usage.measures[measure])}
        bars={days.map((day) => ({
          label: formats.shortDate(day.day),
          value: day[measure],
          text: say(day[measure], { measure, currency, formats }),
        }))}
        columns={[usage.day, usage.measures[measure]]}
        tableLabel={usage.showTable}
      />
    </>
  );
};

const say = (
  value: number,
  { measure, currency, formats }: { measure: Measure; currency: string; formats: Formats },
): string => (measure === 'cost' ? formats.money(value, currency) : formats.number(value));
