import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import type { ChartProps } from './chart.tsx';
import { sum } from './chart-data.ts';

/** Colours of the series, with what each comes to. */
export const Legend = ({ data, say }: Pick<ChartProps, 'data' | 'say'>): ReactElement => {
  const { charts } = useI18n().messages;
  return (
    <ul className="chart-legend">
      {data.series.map(({ id, name, values }, index) => (
        <li key={id}>
          <span className={`chart-swatch chart-series-${index + 1}`} aria-hidden="true" />
          <span className="chart-name">{name}</span> <span className="hint">{say(sum(values))}</span>
        </li>
      ))}
      {data.before !== undefined && (
        <li>
          <span className="chart-swatch chart-swatch-line" aria-hidden="true" />
          <span className="chart-name">{charts.before}</span> <span className="hint">{say(sum(data.before))}</span>
        </li>
      )}
    </ul>
  );
};
