import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { type Column, Table } from '../ui/index.ts';
import type { ChartProps } from './chart.tsx';
import { type DayRun, joinEmptyDays, totalsOf } from './chart-data.ts';

/** Renders the figures of a chart as a table, newest day first. Adjacent days without use share a row. */
export const ChartTable = ({ label, data, say }: ChartProps): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { charts } = messages;
  const totals = totalsOf(data);
  const dayOf = (index: number): Date => data.days[index] ?? new Date(0);
  const columns: Column<DayRun>[] = [
    {
      title: charts.day,
      isHeader: true,
      render: ({ first, last }) => formats.shortRange(dayOf(first), dayOf(last)),
    },
    ...(data.series.length < 2 ? [] : data.series).map(
      ({ name, values }): Column<DayRun> => ({
        title: name,
        isNumber: true,
        render: ({ first }) => say(values[first] ?? 0),
      }),
    ),
    { title: charts.total, isNumber: true, render: ({ first }) => say(totals[first] ?? 0) },
  ];
  return (
    <Table
      label={label}
      rows={joinEmptyDays(totals).toReversed()}
      keyOf={({ first }) => String(first)}
      columns={columns}
    />
  );
};
