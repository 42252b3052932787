import { type ReactElement, useRef, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button, type Column, saveFile, Table } from '../ui/index.ts';
import {
  type ChartProps,
  type DayRun,
  isoDay,
  joinEmptyDays,
  percentChange,
  sum,
  toCsv,
  totalsOf,
} from './chart-data.ts';
import { Plot } from './plot.tsx';

const SCALE = 2;
const MARGIN = 24;
const TITLE_HEIGHT = 48;
const ROW_HEIGHT = 24;
const SWATCH = 11;
/** Properties set by style sheets, which do not apply to a picture. */
const DRAWN = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size'] as const;

/** Draws a chart with its title and legend as a PNG, in its current colors. */
export const drawPng = async (
  figure: HTMLElement,
  { label, note }: { label: string; note: string },
): Promise<Blob | undefined> => {
  const svg = figure.querySelector<SVGSVGElement>('.chart-plot svg');
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d');
  if (svg === null || context === null) return undefined;
  const { width, height } = svg.getBoundingClientRect();
  const rows = [...figure.querySelectorAll<HTMLElement>('.chart-legend li')];
  canvas.width = (width + 2 * MARGIN) * SCALE;
  canvas.height = (MARGIN + TITLE_HEIGHT + height + rows.length * ROW_HEIGHT + MARGIN) * SCALE;
  context.scale(SCALE, SCALE);
  const { color, fontFamily } = getComputedStyle(figure);
  context.fillStyle = getComputedStyle(figure.closest('.card') ?? document.body).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color;
  context.textBaseline = 'top';
  context.font = `600 16px ${fontFamily}`;
  context.fillText(label, MARGIN, MARGIN);
  context.font = `13px ${fontFamily}`;
  context.fillText(note, MARGIN, MARGIN + 22);
  context.drawImage(await toImage(svg), MARGIN, MARGIN + TITLE_HEIGHT, width, height);
  for (const [index, row] of rows.entries()) {
    const y = MARGIN + TITLE_HEIGHT + height + 8 + index * ROW_HEIGHT;
    drawSwatch(context, row.querySelector('.chart-swatch'), y);
    context.fillStyle = color;
    context.fillText(row.textContent.replaceAll(/\s+/g, ' '), MARGIN + SWATCH + 8, y);
  }
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? undefined)));
};

/** Draws a square for bars, or a stroke for the line of the previous period. */
const drawSwatch = (context: CanvasRenderingContext2D, swatch: Element | null, y: number): void => {
  if (swatch === null) return;
  const { height, backgroundColor, borderTopColor } = getComputedStyle(swatch);
  const isLine = Number.parseFloat(height) < SWATCH / 2;
  context.fillStyle = isLine ? borderTopColor : backgroundColor;
  context.fillRect(MARGIN, isLine ? y + 6 : y + 1, SWATCH, isLine ? 2 : SWATCH);
};

const toImage = async (svg: SVGSVGElement): Promise<HTMLImageElement> => {
  const { width, height } = svg.getBoundingClientRect();
  const image = new Image(width * SCALE, height * SCALE);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(copyWithStyles(svg)))}`;
  await image.decode();
  return image;
};

const copyWithStyles = (svg: SVGSVGElement): Node => {
  const copy = svg.cloneNode(true);
  if (!(copy instanceof SVGSVGElement)) return copy;
  const seen = [...svg.querySelectorAll('*')];
  for (const [index, element] of [...copy.querySelectorAll('*')].entries()) {
    const original = seen[index];
    if (original === undefined) continue;
    const style = getComputedStyle(original);
    for (const name of DRAWN) element.setAttribute(name, style.getPropertyValue(name));
  }
  return copy;
};

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
      ({ id, name, values }): Column<DayRun> => ({
        id: `series ${id}`,
        title: name,
        hasNameAsTitle: true,
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
