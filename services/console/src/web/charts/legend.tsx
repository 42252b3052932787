import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import type { ChartProps } from './chart.tsx';
import { sum } from './chart-data.ts';

/** Renders the colors of the series, with their sums. */
export const Legend = ({ data, say, sayRounded }: Pick<ChartProps, 'data' | 'say' | 'sayRounded'>): ReactElement => {
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
