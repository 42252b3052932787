import { type KeyboardEvent, type PointerEvent, type ReactElement, useEffect, useId, useRef, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { type ChartData, type ChartProps, moveCursor, totalsOf } from './chart-data.ts';
import { type Frame, layOut } from './lay-out.ts';

const DISTANCE = 10;

/** Renders the values of the selected day. Screen readers get them from the chart. */
const Tooltip = ({
  data,
  frame,
  day,
  say,
}: Pick<ChartProps, 'data' | 'say'> & { frame: Frame; day: number }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { charts } = messages;
  const at = data.days[day];
  const start = frame.left + day * frame.band;
  const isRight = start + frame.band / 2 < frame.width / 2;
  const place = isRight
    ? { left: start + frame.band + DISTANCE }
    : { right: Math.max(0, frame.width - start + DISTANCE) };
  const rows = data.series.map(({ id, name, values }, index) => ({ id, name, value: values[day] ?? 0, index }));
  return (
    <div className="chart-tooltip" style={place} aria-hidden="true">
      <p className="chart-tooltip-title">
        <span>{at !== undefined && formats.weekday(at)}</span> <strong>{say(totalsOf(data)[day] ?? 0)}</strong>
      </p>
      <ul>
        {rows
          .filter(({ value }) => value > 0)
          .toReversed()
          .map(({ id, name, value, index }) => (
            <li key={id}>
              <span className={`chart-swatch chart-series-${index + 1}`} />
              <span className="chart-name">{name}</span> <span>{say(value)}</span>
            </li>
          ))}
        {data.before !== undefined && (
          <li>
            <span className="chart-swatch chart-swatch-line" />
            <span className="chart-name">{charts.before}</span> <span>{say(data.before[day] ?? 0)}</span>
          </li>
        )}
      </ul>
    </div>
  );
};

const HEIGHT = 240;

interface Cursor {
  readonly day: number;
  /** True if moved by keys, and therefore announced. */
  readonly isSpoken: boolean;
}

/** Renders the chart. The pointer or the arrow keys select a day, whose values are shown and, for keys, announced. */
export const Plot = ({ label, data, say, sayShort }: ChartProps): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { charts } = messages;
  const hintId = useId();
  const [box, width] = useWidth();
  const [cursor, setCursor] = useState<Cursor>();
  const frame = layOut(data, { width, height: HEIGHT, sayShort });
  const day = cursor === undefined || cursor.day >= data.days.length ? undefined : cursor.day;
  const move = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') setCursor(undefined);
    const next = moveCursor(event.key, day, data.days.length);
    if (next === undefined) return;
    event.preventDefault();
    setCursor({ day: next, isSpoken: true });
  };
  const point = (event: PointerEvent): void => {
    const place = event.clientX - event.currentTarget.getBoundingClientRect().left - frame.left;
    const pointed = Math.floor(place / frame.band);
    if (pointed >= 0 && pointed < data.days.length) setCursor({ day: pointed, isSpoken: false });
  };
  return (
    <>
      <span id={hintId} className="visually-hidden">
        {charts.keysHint}
      </span>
      <div
        ref={box}
        className="chart-plot"
        role="application"
        aria-label={label}
        aria-describedby={hintId}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: An application answers keys, so it takes the focus.
        tabIndex={0}
        onKeyDown={move}
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={({ pointerType }) => pointerType === 'mouse' && setCursor(undefined)}
        onBlur={() => setCursor(undefined)}
      >
        <Drawing data={data} frame={frame} day={day} dayLabel={formats.shortDate} />
        {day !== undefined && <Tooltip data={data} frame={frame} day={day} say={say} />}
        <p className="visually-hidden" aria-live="polite">
          {day !== undefined && cursor?.isSpoken === true && <Spoken data={data} day={day} say={say} />}
        </p>
      </div>
    </>
  );
};

const Spoken = ({ data, day, say }: { data: ChartData; day: number; say: (value: number) => string }): string => {
  const { messages, formats } = useCoreI18n();
  const { charts } = messages;
  const at = data.days[day];
  const parts = data.series.filter(({ values }) => (values[day] ?? 0) > 0);
  return [
    `${at === undefined ? '' : formats.weekday(at)}: ${say(totalsOf(data)[day] ?? 0)}`,
    ...(parts.length < 2 ? [] : parts).map(({ name, values }) => `${name} ${say(values[day] ?? 0)}`),
    ...(data.before === undefined ? [] : [`${charts.before} ${say(data.before[day] ?? 0)}`]),
  ].join('. ');
};

const Drawing = ({
  data,
  frame,
  day,
  dayLabel,
}: {
  data: ChartData;
  frame: Frame;
  day: number | undefined;
  dayLabel: (day: Date) => string;
}): ReactElement => {
  const { left, right, bottom, band, width, height } = frame;
  return (
    <svg width={width} height={height} aria-hidden="true">
      {frame.ticks.map(({ y, text }) => (
        <g key={y}>
          <line className="chart-grid" x1={left} x2={right} y1={y} y2={y} />
          <text className="chart-text" x={left - 8} y={y} dy="0.32em" textAnchor="end">
            {text}
          </text>
        </g>
      ))}
      {day !== undefined && (
        <rect className="chart-cursor" x={left + day * band} width={band} y={frame.top} height={bottom - frame.top} />
      )}
      {frame.bars.map(({ series, day: at, x, y, width: barWidth, height: barHeight }) => (
        <rect
          key={`${series} ${at}`}
          className={`chart-bar chart-series-${series + 1}`}
          x={x}
          y={y}
          width={barWidth}
          height={barHeight}
        />
      ))}
      {frame.before !== undefined && <path className="chart-before" d={frame.before} />}
      <line className="chart-axis" x1={left} x2={right} y1={bottom} y2={bottom} />
      {frame.labels.map(({ day: at, x, anchor }) => {
        const date = data.days[at];
        return (
          <text key={at} className="chart-text" x={x} y={bottom + 18} textAnchor={anchor}>
            {date !== undefined && dayLabel(date)}
          </text>
        );
      })}
    </svg>
  );
};

/** Tracks the width of an element. */
const useWidth = () => {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [box, width] as const;
};
