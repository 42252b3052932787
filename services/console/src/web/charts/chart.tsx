import { lazy, type ReactElement, Suspense } from 'react';
import { useI18n } from '../i18n/index.ts';
import type { ChartData } from './chart-data.ts';

export interface ChartProps {
  /** Names the chart for screen readers and in its picture. */
  readonly label: string;
  readonly data: ChartData;
  /** A value as people read it. */
  readonly say: (value: number) => string;
  /** A sum as people read it, rounded. */
  readonly sayRounded: (value: number) => string;
  /** A value on the axis: as short as can be. */
  readonly sayShort: (value: number) => string;
  /** A value as other programs read it. */
  readonly sayExact: (value: number) => string;
  /** Zone in which the days begin. */
  readonly timeZone: string;
  /** Begin of the names of saved files. */
  readonly fileName: string;
}

const ChartFigure = lazy(async () => ({ default: (await import('./chart-figure.tsx')).ChartFigure }));

/** Bars by day, stacked, with the same figures as a table and as files. Loaded only where there is something to draw. */
export const Chart = (props: ChartProps): ReactElement => (
  <Suspense fallback={<ChartPlaceholder />}>
    <ChartFigure {...props} />
  </Suspense>
);

const ChartPlaceholder = (): ReactElement => {
  const { messages } = useI18n();
  return (
    <div className="chart-placeholder" role="status">
      <span className="visually-hidden">{messages.common.loading}</span>
      <span className="skeleton" aria-hidden="true" />
    </div>
  );
};
