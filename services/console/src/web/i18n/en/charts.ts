/** Charts by day. */
export const charts = {
  day: 'Day',
  total: 'Total',
  others: 'Others',
  before: 'Previous period',
  nothingBefore: (days: number) => `nothing in the previous ${days} days`,
  sameAsBefore: (days: number, before: string) => `same as in the previous ${days} days (${before})`,
  moreThanBefore: (percent: string, days: number, before: string) =>
    `${percent} more than in the previous ${days} days (${before})`,
  lessThanBefore: (percent: string, days: number, before: string) =>
    `${percent} less than in the previous ${days} days (${before})`,
  daysIn: (zone: string) => `Days in ${zone} time`,
  keysHint: 'The arrow keys move from day to day, Page Up and Page Down from week to week.',
  showTable: 'Show as a table',
  showChart: 'Show as a chart',
  csv: 'CSV',
  png: 'PNG',
  saveCsv: 'Save as CSV',
  savePng: 'Save as PNG',
};
