import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import type { ChartProps } from './chart.tsx';
import { totalsOf } from './chart-data.ts';
import type { Frame } from './lay-out.ts';

const DISTANCE = 10;

/** Renders the values of the selected day. Screen readers get them from the chart. */
export const Tooltip = ({
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
