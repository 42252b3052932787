import { type ReactElement, useEffect } from 'react';
import { useIsOnline } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { useOnDemand } from '../ui/index.ts';
import type { ChartProps } from './chart-data.ts';

const loadFigure = async () => (await import('./chart-figure.tsx')).ChartFigure;

/**
 * Renders stacked bars by day, with the same figures as a table and as files. Its script is loaded only if there are
 * data, and again once the browser is online, so that the page does without it meanwhile.
 */
export const Chart = (props: ChartProps): ReactElement => {
  const { component: ChartFigure, request } = useOnDemand(loadFigure);
  const isOnline = useIsOnline();
  useEffect(() => {
    if (isOnline) void request();
  }, [isOnline, request]);
  return ChartFigure === undefined ? <ChartPlaceholder /> : <ChartFigure {...props} />;
};

/** Takes the place of a chart until it is here. */
export const ChartPlaceholder = (): ReactElement => {
  const { messages } = useCoreI18n();
  return (
    <div className="chart-placeholder" role="status">
      <span className="visually-hidden">{messages.common.loading}</span>
      <span className="skeleton" aria-hidden="true" />
    </div>
  );
};
