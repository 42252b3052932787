import { decimalOf } from '@svc/contracts/format-money';
import { type ReactElement, useState } from 'react';
import { useMayOpen } from '../access/index.ts';
import { type ItemOf, useApiQuery } from '../api/index.ts';
import { Chart, type ChartData, type ChartSeries, limitSeries, toCalendarDay } from '../charts/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { currencyOf, usePlans } from '../subscription.tsx';
import { ButtonLink, Card, EmptyState, Loaded, Money, SelectField, Table } from '../ui/index.ts';

/** Use of one UTC day. */
export type DailyUse = ItemOf<'getUsageHistory'>;

/** Selectable periods, in days up to today. */
const HISTORY_DAYS = { days7: 7, days30: 30, days90: 90 } as const;

/** One of the periods. */
type HistoryRange = keyof typeof HISTORY_DAYS;

/** Requests and their cost. */
interface Use {
  readonly requests: number;
  readonly cost: number;
}

/** Returns the use of a day through one app or all. */
export const useOf = (day: DailyUse, clientId: string | undefined): Use => {
  const { requests, cost_micros } =
    clientId === undefined
      ? day
      : (day.apps.find((app) => app.client_id === clientId) ?? { requests: 0, cost_micros: 0 });
  return { requests, cost: cost_micros };
};

/** Part of the history that a chart shows. */
interface HistoryView {
  readonly measure: 'cost' | 'requests';
  /** Undefined for all apps. */
  readonly clientId: string | undefined;
}

/** Names of the series in a chart. */
interface HistoryNames {
  /** Names of connected apps, by client id. */
  readonly apps: ReadonlyMap<string, string>;
  readonly former: string;
  readonly others: string;
}

/** Splits days into the previous and the current period, and stacks the latter by app. Former apps share a series. */
export const toChartData = (
  days: readonly DailyUse[],
  { measure, clientId }: HistoryView,
  { apps, former, others }: HistoryNames,
): ChartData => {
  const shown = laterHalf(days);
  const valuesOf = (id: string): number[] => shown.map((day) => useOf(day, id)[measure]);
  const totals = shown.map((day) => useOf(day, clientId)[measure]);
  const connected = [...apps].map(([id, name]): ChartSeries => ({ id, name, values: valuesOf(id) }));
  const rest = totals.map((total, day) => connected.reduce((left, { values }) => left - (values[day] ?? 0), total));
  const series =
    clientId === undefined
      ? limitSeries([...connected, { id: 'former', name: former, values: rest }], others)
      : [{ id: clientId, name: apps.get(clientId) ?? former, values: totals }];
  return {
    days: shown.map(({ day }) => toCalendarDay(day)),
    series,
    before: days.slice(0, days.length - shown.length).map((day) => useOf(day, clientId)[measure]),
  };
};

/** Returns the current period of days that include the previous one. */
export const laterHalf = (days: readonly DailyUse[]): readonly DailyUse[] => days.slice(Math.floor(days.length / 2));

/** Sums the use of each app over all days, the most expensive first. */
export const sumByApp = (days: readonly DailyUse[]): (Use & { clientId: string })[] => {
  const sums = new Map<string, Use & { clientId: string }>();
  for (const { client_id: clientId, requests, cost_micros } of days.flatMap(({ apps }) => apps)) {
    const sum = sums.get(clientId) ?? { clientId, requests: 0, cost: 0 };
    sums.set(clientId, { clientId, requests: sum.requests + requests, cost: sum.cost + cost_micros });
  }
  return [...sums.values()].sort((a, b) => b.cost - a.cost || b.requests - a.requests);
};

/** Shows the use of the plan by connected apps per day. Renders nothing for a person who never had a plan. */
export const PlanHistoryCard = (): ReactElement | null => {
  const { overview } = useCoreI18n().messages;
  const current = useApiQuery('getSubscription', {});
  const [range, setRange] = useState<HistoryRange>('days30');
  const [view, setView] = useState<HistoryView>({ measure: 'cost', clientId: undefined });
  const history = useApiQuery('getUsageHistory', { query: { days: 2 * HISTORY_DAYS[range] } });
  // Without their names, connected apps would look like former ones.
  const mayOpen = useMayOpen();
  const isOwn = mayOpen('/connections');
  const connections = useApiQuery('listConnections', {}, { enabled: isOwn });
  const plans = usePlans();
  const subscription = current.data?.subscription ?? null;
  if (subscription === null) return null;
  const show = (days: readonly DailyUse[], names: ReadonlyMap<string, string>): ReactElement => (
    <History
      days={days}
      names={names}
      currency={currencyOf(plans.data?.data, subscription)}
      view={view}
      onChange={(changes) => setView({ ...view, ...changes })}
    />
  );
  return (
    <Card
      title={overview.historyTitle}
      lead={overview.historyLead}
      actions={
        <SelectField
          label={overview.historyRange}
          labelHidden
          value={range}
          onChange={setRange}
          options={(['days7', 'days30', 'days90'] as const).map((value) => ({
            value,
            label: overview.historyRanges[value],
          }))}
        />
      }
    >
      <Loaded query={history} lines={5}>
        {({ data }) =>
          isOwn ? (
            <Loaded query={connections} lines={5}>
              {(connected) => show(data, new Map(connected.data.map(({ client_id, app }) => [client_id, app.name])))}
            </Loaded>
          ) : (
            show(data, new Map(data.flatMap(({ apps }) => apps.map(({ client_id: id }) => [id, id]))))
          )
        }
      </Loaded>
    </Card>
  );
};

const History = ({
  days,
  names,
  currency,
  view,
  onChange,
}: {
  days: readonly DailyUse[];
  /** Names of connected apps, by client id. */
  names: ReadonlyMap<string, string>;
  currency: string;
  view: HistoryView;
  onChange: (changes: Partial<HistoryView>) => void;
}): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { overview, charts } = messages;
  const { measure } = view;
  const mayOpen = useMayOpen();
  const nameOf = (clientId: string): string => names.get(clientId) ?? overview.historyFormerApp;
  const apps = sumByApp(laterHalf(days));
  const clientId = apps.find((app) => app.clientId === view.clientId)?.clientId;
  const texts = { apps: names, former: overview.historyFormerApp, others: charts.others };
  const isCost = measure === 'cost';
  if (apps.length === 0) {
    return (
      <EmptyState
        icon="usage"
        text={overview.historyEmpty}
        action={mayOpen('/connections') && <ButtonLink to="/connections">{overview.toConnections}</ButtonLink>}
      />
    );
  }
  return (
    <>
      <div className="filters">
        <SelectField
          label={overview.historyShow}
          value={measure}
          onChange={(value) => onChange({ measure: value })}
          options={(['cost', 'requests'] as const).map((value) => ({ value, label: overview.historyMeasures[value] }))}
        />
        <SelectField
          label={overview.historyApp}
          value={clientId ?? ''}
          onChange={(value) => onChange({ clientId: value === '' ? undefined : value })}
          options={[
            { value: '', label: overview.historyAllApps },
            ...apps.map((app) => ({ value: app.clientId, label: nameOf(app.clientId) })),
          ]}
        />
      </div>
      <Chart
        label={overview.historyChart(overview.historyMeasures[measure])}
        data={toChartData(days, { measure, clientId }, texts)}
        say={(value) => (isCost ? formats.fineMoney(value, currency) : formats.number(value))}
        sayRounded={(value) => (isCost ? formats.shortMoney(value, currency) : formats.number(value))}
        sayShort={(value) => (isCost ? formats.compactMoney(value, currency) : formats.compact(value))}
        sayExact={isCost ? decimalOf : String}
        fileName="plan-usage"
      />
      <Table
        label={overview.historyByApp}
        rows={apps}
        keyOf={({ clientId }) => clientId}
        columns={[
          { title: overview.historyApp, isHeader: true, isName: true, render: ({ clientId }) => nameOf(clientId) },
          {
            title: overview.historyMeasures.requests,
            isNumber: true,
            render: ({ requests }) => formats.number(requests),
          },
          {
            title: overview.historyMeasures.cost,
            isNumber: true,
            render: ({ cost }) => <Money micros={cost} currency={currency} />,
          },
        ]}
      />
    </>
  );
};
