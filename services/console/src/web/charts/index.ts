export { toCalendarDay } from './calendar-day.ts';
export { Chart, ChartPlaceholder } from './chart.tsx';
export { type ChartData, type ChartSeries, limitSeries } from './chart-data.ts';
