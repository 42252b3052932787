import type { CoreMessages } from '../en/index.ts';

/** Charts by day, in Italian. */
export const charts: CoreMessages['charts'] = {
  day: 'Giorno',
  total: 'Totale',
  others: 'Altri',
  before: 'Periodo precedente',
  nothingBefore: (days) => `niente nei ${days} giorni precedenti`,
  sameAsBefore: (days, before) => `come nei ${days} giorni precedenti (${before})`,
  moreThanBefore: (percent, days, before) => `${percent} in più rispetto ai ${days} giorni precedenti (${before})`,
  lessThanBefore: (percent, days, before) => `${percent} in meno rispetto ai ${days} giorni precedenti (${before})`,
  daysIn: (zone) => `Giorni nel fuso ${zone}`,
  keysHint: 'Con le frecce ti sposti di giorno in giorno, con Pagina su e Pagina giù di settimana in settimana.',
  showTable: 'Mostra come tabella',
  showChart: 'Mostra come grafico',
  csv: 'CSV',
  png: 'PNG',
  saveCsv: 'Salva come CSV',
  savePng: 'Salva come PNG',
};
