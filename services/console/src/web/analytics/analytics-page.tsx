import { type ReactElement, useState } from 'react';
import { useApiQuery } from '../api/index.ts';
import { AppFrame } from '../apps/index.ts';
import { Chart, ChartPlaceholder } from '../charts/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Card, EmptyState, Facts, Loaded, SelectField, useNow } from '../ui/index.ts';
import { type AppDay, firstDay, type Measure, RANGE_DAYS, type Range, toChartData } from './app-days.ts';

const RANGES: readonly Range[] = ['days7', 'days30', 'days90'];
const MEASURES: readonly Measure[] = ['requests', 'connections', 'deliveries'];

/** Shows how an app is used, day by day, without a word about any person. */
export const AnalyticsPage = (): ReactElement => (
  <AppFrame>{(app) => <AnalyticsCard key={app.client_id} clientId={app.client_id} />}</AppFrame>
);

const AnalyticsCard = ({ clientId }: { clientId: string }): ReactElement => {
  const { analytics, usage } = useI18n().messages;
  const now = useNow();
  const [range, setRange] = useState<Range>('days30');
  const [measure, setMeasure] = useState<Measure>('requests');
  const days = useApiQuery('getAppAnalytics', {
    params: { client_id: clientId },
    query: { from: firstDay(range, now), to: now.toISOString().slice(0, 10) },
  });
  return (
    <Card title={analytics.title} lead={analytics.lead}>
      <div className="filters">
        <SelectField
          label={usage.measure}
          value={measure}
          onChange={setMeasure}
          options={MEASURES.map((value) => ({ value, label: analytics.measures[value] }))}
        />
        <SelectField
          label={usage.range}
          value={range}
          onChange={setRange}
          options={RANGES.map((value) => ({ value, label: usage.ranges[value] }))}
        />
      </div>
      <Loaded query={days} placeholder={<ChartPlaceholder />}>
        {({ data }) => <Days days={data} measure={measure} range={range} />}
      </Loaded>
    </Card>
  );
};

const Days = ({ days, measure, range }: { days: readonly AppDay[]; measure: Measure; range: Range }): ReactElement => {
  const { messages, formats } = useI18n();
  const { analytics } = messages;
  const data = toChartData(days, measure, analytics.parts);
  const shown = days.slice(-RANGE_DAYS[range]);
  const total = (name: Exclude<keyof AppDay, 'day'>): string =>
    formats.number(shown.reduce((sum, day) => sum + day[name], 0));
  return (
    <>
      {data.series.length === 0 ? (
        <EmptyState icon="usage" text={analytics.empty} />
      ) : (
        <Chart
          label={analytics.chart(analytics.measures[measure])}
          data={data}
          say={formats.number}
          sayRounded={formats.number}
          sayShort={formats.compact}
          sayExact={String}
          fileName="app-analytics"
        />
      )}
      <Facts
        items={[
          [analytics.newConnections, total('connections')],
          [analytics.requests, analytics.ofWhich(total('requests'), total('errors'))],
          [analytics.deliveries, analytics.ofWhich(total('deliveries'), total('deliveries_failed'))],
        ]}
      />
    </>
  );
};
