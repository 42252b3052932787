import type { PageMessages } from '../en/index.ts';

/** Alerts by mail, in Italian. */
export const alerts: PageMessages['alerts'] = {
  title: 'Avvisi',
  lead: 'Email che ti avvertono prima che un limite fermi un’app o una chiave API.',
  card: 'Quando scriverti',
  cardLead: 'Ricevi ogni email una volta sola per limite e periodo.',
  thresholds: 'Quando hai usato questa parte di un limite',
  thresholdsHint: 'Vale per i limiti del tuo piano, di ogni app e di ogni chiave API.',
  noThresholds: 'Nessuna soglia: non ricevi email sui limiti.',
  another: 'Un’altra percentuale',
  add: 'Aggiungi',
  notAPercentage: 'Un numero intero da 1 a 100.',
  tooMany: (count) => `Al massimo ${count} percentuali.`,
  wallet: (currency) => `Quando il portafoglio scende sotto (${currency})`,
  walletHint: 'Lascia vuoto per non ricevere email sul portafoglio.',
  saved: 'Avvisi salvati',
};
