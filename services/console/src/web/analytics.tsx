import { type ReactElement, useState } from 'react';
import { type ItemOf, useApiQuery } from './api/index.ts';
import { AppFrame } from './apps/index.ts';
import { Chart, type ChartData, ChartPlaceholder, type ChartSeries, toCalendarDay } from './charts/index.ts';
import { useI18n } from './i18n/index.ts';
import { Card, EmptyState, Facts, Loaded, SelectField, useNow } from './ui/index.ts';

/** Counts of one UTC day. */
export type AppDay = ItemOf<'getAppAnalytics'>;

/** Selectable periods, in days up to today. */
export const RANGE_DAYS = { days7: 7, days30: 30, days90: 90 } as const;

export type Range = keyof typeof RANGE_DAYS;

/** Subject of the chart. */
export type Measure = 'requests' | 'connections' | 'deliveries';

/** Names of the parts of a day. */
export type PartNames = Readonly<Record<'succeeded' | 'failed' | 'connected' | 'accepted' | 'refused', string>>;

const DAY_MS = 86_400_000;

/** Returns the first UTC day of a period and of the one before. */
export const firstDay = (range: Range, now: Date): string =>
  new Date(now.getTime() - (2 * RANGE_DAYS[range] - 1) * DAY_MS).toISOString().slice(0, 10);

const partsOf = (measure: Measure, names: PartNames): readonly (ChartSeries & { of: (day: AppDay) => number })[] => {
  const part = (id: keyof PartNames, of: (day: AppDay) => number) => ({ id, name: names[id], values: [], of });
  switch (measure) {
    case 'requests':
      return [part('succeeded', (day) => day.requests - day.errors), part('failed', (day) => day.errors)];
    case 'connections':
      return [part('connected', (day) => day.connections)];
    case 'deliveries':
      return [
        part('accepted', (day) => day.deliveries - day.deliveries_failed),
        part('refused', (day) => day.deliveries_failed),
      ];
  }
};

/** Stacks the parts of each day. The first half of the days is the period before. */
export const toChartData = (days: readonly AppDay[], measure: Measure, names: PartNames): ChartData => {
  const half = Math.floor(days.length / 2);
  const shown = days.slice(half);
  const parts = partsOf(measure, names);
  return {
    days: shown.map(({ day }) => toCalendarDay(day)),
    series: parts
      .map(({ id, name, of }): ChartSeries => ({ id, name, values: shown.map(of) }))
      .filter(({ values }) => values.some((value) => value > 0)),
    before: days.slice(0, half).map((day) => day[measure]),
  };
};

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
