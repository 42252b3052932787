export { Chart, ChartPlaceholder } from './chart.tsx';
export { type ChartData, type ChartSeries, limitSeries, toCalendarDay } from './chart-data.ts';
