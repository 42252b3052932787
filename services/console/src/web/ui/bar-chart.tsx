import type { ReactElement } from 'react';

/** One bar. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as people read it. */
  readonly text: string;
}

const HEIGHT = 100;
const GAP = 0.28;
/** So that a small value can be told from none. */
const VISIBLE_MIN = 1.5;

/** Bars over time. The same figures stand in a table below, for everybody who cannot make them out here. */
export const BarChart = ({
  label,
  bars,
  columns,
  tableLabel,
}: {
  label: string;
  bars: readonly Bar[];
  columns: readonly [string, string];
  tableLabel: string;
}): ReactElement => {
  const top = bars.reduce((highest, bar) => (bar.value > highest.value ? bar : highest), { value: 0, text: '' });
  return (
    <figure className="chart">
      <div className="chart-plot">
        <span className="chart-top hint" aria-hidden="true">
          {top.value > 0 && top.text}
        </span>
        <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {bars.map((bar, index) => (
            <BarShape key={bar.label} bar={bar} index={index} top={top.value} />
          ))}
        </svg>
        <div className="chart-axis hint" aria-hidden="true">
          {axisLabels(bars).map((text) => (
            <span key={text}>{text}</span>
          ))}
        </div>
      </div>
      <details>
        <summary>{tableLabel}</summary>
        <div className="table-frame">
          <table className="table table-plain" aria-label={label}>
            <thead>
              <tr>
                <th scope="col">{columns[0]}</th>
                <th scope="col" className="number">
                  {columns[1]}
                </th>
              </tr>
            </thead>
            <tbody>
              {bars.toReversed().map((bar) => (
                <tr key={bar.label}>
                  <th scope="row">{bar.label}</th>
                  <td className="number">{bar.text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
};

const BarShape = ({ bar, index, top }: { bar: Bar; index: number; top: number }): ReactElement => {
  const height = bar.value === 0 || top === 0 ? 0 : Math.max(VISIBLE_MIN, (bar.value / top) * HEIGHT);
  return (
    <g>
      <rect className="chart-bar" x={index + GAP / 2} width={1 - GAP} y={HEIGHT - height} height={height} />
      {/* The whole column answers the pointer, however small its bar is. */}
      <rect className="chart-hit" x={index} width={1} y={0} height={HEIGHT}>
        <title>{`${bar.label}: ${bar.text}`}</title>
      </rect>
    </g>
  );
};

/** First, middle and last: more would not fit on a phone. */
const axisLabels = (bars: readonly Bar[]): string[] => {
  const places = [0, Math.floor((bars.length - 1) / 2), bars.length - 1];
  return [...new Set(places)].flatMap((place) => bars[place]?.label ?? []);
};
