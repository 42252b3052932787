/** Charts by day. */
export const charts = {
  day: 'Day',
  total: 'Total',
  others: 'Others',
  before: 'Period before',
  nothingBefore: (days: number) => `nothing in the ${days} days before`,
  sameAsBefore: (days: number, before: string) => `as much as in the ${days} days before (${before})`,
  moreThanBefore: (percent: string, days: number, before: string) =>
    `${percent} more than in the ${days} days before (${before})`,
  lessThanBefore: (percent: string, days: number, before: string) =>
    `${percent} less than in the ${days} days before (${before})`,
  daysIn: (zone: string) => `Days in ${zone} time`,
  keysHint: 'The arrow keys move from day to day, Page Up and Page Down from week to week.',
  showTable: 'Show as a table',
  showChart: 'Show as a chart',
  csv: 'CSV',
  png: 'PNG',
  saveCsv: 'Save as CSV',
  savePng: 'Save as PNG',
};
