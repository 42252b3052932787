import type { PageMessages } from '../en/index.ts';
import { account, connections, links } from './account.ts';
import { analytics, apps, webhooks } from './business.ts';
import { autoTopUp, extraUsage, invoices, keys, managementKeys, receipts, usage, wallet } from './gateway.ts';
import { audit, invitation, members, memberUsage, organizationData, rules, seats } from './organization.ts';
import { factors, ownData, sessions } from './security.ts';

/** Alerts by mail, in Italian. */
const alerts: PageMessages['alerts'] = {
  title: 'Avvisi',
  lead: 'Email che ti avvertono prima che un limite fermi un’app o una chiave API.',
  card: 'Quando scriverti',
  cardLead: 'Ricevi ogni email una volta sola per limite e periodo.',
  thresholds: 'Quando hai usato questa parte di un limite',
  thresholdsHint: 'Vale per i limiti del tuo piano, dei consumi extra, di ogni app e di ogni chiave API.',
  noThresholds: 'Nessuna soglia: non ricevi email sui limiti.',
  another: 'Un’altra percentuale',
  add: 'Aggiungi',
  notAPercentage: 'Un numero intero da 1 a 100.',
  tooMany: (count) => `Al massimo ${count} percentuali.`,
  wallet: (currency) => `Quando il portafoglio scende sotto (${currency})`,
  walletHint: 'Lascia vuoto per non ricevere email sul portafoglio.',
  saved: 'Avvisi salvati',
};

/** Replacing a secret, in Italian. */
const overlap: PageMessages['overlap'] = {
  label: 'Il vecchio segreto resta valido',
  choices: { hour: 'Per un’ora', day: 'Per un giorno', week: 'Per una settimana', now: 'Per niente' },
  rotate: 'Sostituisci',
  rotating: 'Sostituzione…',
  until: (date) => `Il vecchio segreto vale fino al ${date}.`,
  ended: 'Il vecchio segreto non vale più.',
};

/** Texts of all other pages in Italian. */
export const itPages: PageMessages = {
  account,
  sessions,
  factors,
  ownData,
  links,
  connections,
  overlap,
  keys,
  managementKeys,
  wallet,
  autoTopUp,
  extraUsage,
  invoices,
  usage,
  receipts,
  alerts,
  apps,
  analytics,
  webhooks,
  members,
  invitation,
  seats,
  memberUsage,
  audit,
  rules,
  organizationData,
};
