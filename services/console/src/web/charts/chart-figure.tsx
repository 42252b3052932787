import { type ReactElement, useRef, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button, type Column, saveFile, Table } from '../ui/index.ts';
import type { ChartProps } from './chart.tsx';
import { type DayRun, isoDay, joinEmptyDays, percentChange, sum, toCsv, totalsOf } from './chart-data.ts';
import { drawPng } from './draw-png.ts';
import { Plot } from './plot.tsx';

/** Renders the total, the chart or its table, and their actions. */
export const ChartFigure = (props: ChartProps): ReactElement => {
  const { label, data, say, sayRounded, sayExact, fileName } = props;
  const { charts } = useCoreI18n().messages;
  const figure = useRef<HTMLElement>(null);
  // Without use there is nothing to compare, and a line at zero says less than the text above.
  const drawn = data.before !== undefined && sum(data.before) > 0 ? data : { ...data, before: undefined };
  const [isTable, setTable] = useState(false);
  const name = `${fileName}-${data.days[0] === undefined ? '' : isoDay(data.days[0])}`;
  const saveCsv = (): void => {
    const text = toCsv(data, { day: charts.day, total: charts.total }, sayExact);
    saveFile(new Blob([text], { type: 'text/csv' }), `${name}.csv`);
  };
  const savePng = async (): Promise<void> => {
    const picture =
      figure.current === null ? undefined : await drawPng(figure.current, { label, note: charts.daysInUtc });
    if (picture !== undefined) saveFile(picture, `${name}.png`);
  };
  return (
    <figure className="chart" ref={figure}>
      <Total data={data} say={say} sayRounded={sayRounded} />
      {isTable ? (
        <ChartTable {...props} />
      ) : (
        <>
          <Plot {...props} data={drawn} />
          <Legend data={drawn} say={say} sayRounded={sayRounded} />
        </>
      )}
      <div className="chart-foot">
        <span className="hint">{charts.daysInUtc}</span>
        <div className="chart-acts">
          <Button small variant="quiet" onClick={() => setTable(!isTable)}>
            {isTable ? charts.showChart : charts.showTable}
          </Button>
          <Button small variant="quiet" icon="download" aria-label={charts.saveCsv} onClick={saveCsv}>
            {charts.csv}
          </Button>
          {!isTable && (
            <Button small variant="quiet" icon="download" aria-label={charts.savePng} onClick={() => void savePng()}>
              {charts.png}
            </Button>
          )}
        </div>
      </div>
    </figure>
  );
};

const Total = ({ data, say, sayRounded }: Pick<ChartProps, 'data' | 'say' | 'sayRounded'>): ReactElement => {
  const { messages } = useCoreI18n();
  const total = sum(totalsOf(data));
  return (
    <p className="figure-line">
      <span className="hint">{messages.charts.total}</span> <strong title={say(total)}>{sayRounded(total)}</strong>{' '}
      {data.before !== undefined && (
        <span className="hint">
          <Change total={total} before={sum(data.before)} days={data.days.length} say={sayRounded} />
        </span>
      )}
    </p>
  );
};

const Change = ({
  total,
  before,
  days,
  say,
}: {
  total: number;
  before: number;
  days: number;
  say: (value: number) => string;
}): string => {
  const { messages, formats } = useCoreI18n();
  const { charts } = messages;
  const change = percentChange(total, before);
  if (change === undefined) return charts.nothingBefore(days);
  const percent = formats.percent(Math.abs(change));
  if (Math.round(change) === 0) return charts.sameAsBefore(days, say(before));
  return change > 0
    ? charts.moreThanBefore(percent, days, say(before))
    : charts.lessThanBefore(percent, days, say(before));
};

/** Renders the colors of the series, with their sums. */
const Legend = ({ data, say, sayRounded }: Pick<ChartProps, 'data' | 'say' | 'sayRounded'>): ReactElement => {
  const { charts } = useCoreI18n().messages;
  return (
    <ul className="chart-legend">
      {data.series.map(({ id, name, values }, index) => (
        <li key={id}>
          <span className={`chart-swatch chart-series-${index + 1}`} aria-hidden="true" />
          <span className="chart-name">{name}</span> <Sum value={sum(values)} say={say} sayRounded={sayRounded} />
        </li>
      ))}
      {data.before !== undefined && (
        <li>
          <span className="chart-swatch chart-swatch-line" aria-hidden="true" />
          <span className="chart-name">{charts.before}</span>{' '}
          <Sum value={sum(data.before)} say={say} sayRounded={sayRounded} />
        </li>
      )}
    </ul>
  );
};

const Sum = ({ value, say, sayRounded }: { value: number } & Pick<ChartProps, 'say' | 'sayRounded'>): ReactElement => (
  <span className="hint" title={say(value)}>
    {sayRounded(value)}
  </span>
);

/** Renders the figures of a chart as a table, newest day first. Adjacent days without use share a row. */
const ChartTable = ({ label, data, say }: ChartProps): ReactElement => {
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
