import { type ReactElement, useState } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { currencyOf, usePlans } from '../plans/index.ts';
import { BarChart, Card, Loaded, SelectField, Table } from '../ui/index.ts';
import { type DailyUse, HISTORY_DAYS, type HistoryRange, sumByApp, toCalendarDay, useOf } from './plan-history.ts';

/** Choice of the shown part of the history. */
interface View {
  readonly measure: 'cost' | 'requests';
  /** Empty for all apps. */
  readonly clientId: string;
}

/** Use of the plan by connected apps, day by day. Shows nothing to a person who never had a plan. */
export const PlanHistoryCard = (): ReactElement | null => {
  const { overview } = useI18n().messages;
  const current = useApiQuery('getSubscription', {});
  const [range, setRange] = useState<HistoryRange>('days30');
  const [view, setView] = useState<View>({ measure: 'cost', clientId: '' });
  const history = useApiQuery('getUsageHistory', { query: { days: HISTORY_DAYS[range] } });
  // Without their names connected apps would look like former ones.
  const connections = useApiQuery('listConnections', {});
  const plans = usePlans();
  const subscription = current.data?.subscription ?? null;
  if (subscription === null) return null;
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
        {({ data }) => (
          <Loaded query={connections} lines={5}>
            {({ data: connected }) => (
              <History
                days={data}
                names={new Map(connected.map(({ client_id, app }) => [client_id, app.name]))}
                currency={currencyOf(plans.data?.data, subscription)}
                view={view}
                onChange={(changes) => setView({ ...view, ...changes })}
              />
            )}
          </Loaded>
        )}
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
  /** Of connected apps, by client id. */
  names: ReadonlyMap<string, string>;
  currency: string;
  view: View;
  onChange: (changes: Partial<View>) => void;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { overview } = messages;
  const { measure } = view;
  const nameOf = (clientId: string): string => names.get(clientId) ?? overview.historyFormerApp;
  const apps = sumByApp(days);
  const app = apps.find(({ clientId }) => clientId === view.clientId)?.clientId;
  const say = (value: number): string => (measure === 'cost' ? formats.money(value, currency) : formats.number(value));
  const total = days.reduce((sum, day) => sum + useOf(day, app)[measure], 0);
  if (apps.length === 0) return <p className="hint">{overview.historyEmpty}</p>;
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
          value={app ?? ''}
          onChange={(clientId) => onChange({ clientId })}
          options={[
            { value: '', label: overview.historyAllApps },
            ...apps.map(({ clientId }) => ({ value: clientId, label: nameOf(clientId) })),
          ]}
        />
      </div>
      <p className="figure-line">
        <span className="hint">{overview.historyTotal}</span> <strong>{say(total)}</strong>
      </p>
      <BarChart
        label={overview.historyChart(overview.historyMeasures[measure])}
        bars={days.map((day) => {
          const value = useOf(day, app)[measure];
          return { label: formats.shortDate(toCalendarDay(day.day)), value, text: say(value) };
        })}
        columns={[overview.historyDay, overview.historyMeasures[measure]]}
        tableLabel={overview.historyTable}
      />
      <Table
        label={overview.historyByApp}
        rows={apps}
        keyOf={({ clientId }) => clientId}
        columns={[
          { title: overview.historyApp, isHeader: true, render: ({ clientId }) => nameOf(clientId) },
          {
            title: overview.historyMeasures.requests,
            isNumber: true,
            render: ({ requests }) => formats.number(requests),
          },
          { title: overview.historyMeasures.cost, isNumber: true, render: ({ cost }) => formats.money(cost, currency) },
        ]}
      />
    </>
  );
};
