import type { CoreMessages } from '../en/index.ts';
import { common, errors, faults, serviceFaults, shell } from './common.ts';
import { overview, plans } from './overview.ts';

/** The first steps on the overview, in Italian. */
export const firstSteps: CoreMessages['firstSteps'] = {
  title: 'Primi passi',
  lead: 'Pochi minuti e hai il primo risultato.',
  dismiss: 'Nascondi',
  choose: 'Che cosa vuoi fare?',
  paths: { person: 'Usare app', business: 'Offrire un’app', gateway: 'Usare l’API' },
  progress: (done, all) => `${done} di ${all} completati`,
  finished: 'Fatto. Puoi cominciare.',
  done: 'fatto',
  arrived: (model, status, duration) => `È arrivata: ${model}, stato ${status}, in ${duration}.`,
  steps: {
    plan: { title: 'Scegli un piano', text: 'Un solo abbonamento paga tutte le app che colleghi.' },
    connect: {
      title: 'Collega un’app',
      text: 'Premi “Collega” in un’app che funziona con svc. Decidi tu il limite, e puoi scollegarla quando vuoi.',
    },
    answer: { title: 'Ricevi la prima risposta', text: 'Chiedi qualcosa all’app collegata: usa il tuo piano.' },
    app: { title: 'Registra un’app', text: 'Dalle un nome e indica dove tornano le persone dopo averla collegata.' },
    webhook: {
      title: 'Imposta il webhook',
      text: 'Avvisa il tuo server quando qualcuno si collega, se ne va o cambia piano.',
    },
    event: { title: 'Invia un evento di prova', text: 'Verifica che il tuo server lo riceva e controlli la firma.' },
    tryIt: {
      title: 'Collegala tu per primo',
      text: 'Prova la tua app: premi “Collega” e ricevi una risposta con il tuo piano.',
    },
    goLive: { title: 'Vai in produzione', text: 'Segui la lista di controllo, poi fai collegare il primo utente.' },
    topUp: {
      title: 'Ricarica il portafoglio',
      text: 'Le richieste con chiavi API sono prepagate. Per iniziare basta un euro.',
    },
    key: {
      title: 'Crea una chiave API',
      text: 'Si vede una volta sola: conservala dove il tuo programma legge i segreti.',
    },
    request: {
      title: 'Invia la prima richiesta',
      text: 'Metti la chiave in SVC_API_KEY ed esegui uno di questi esempi.',
    },
  },
  acts: {
    plan: 'Guarda i piani',
    connect: 'Prova l’app di esempio',
    app: 'Registra un’app',
    webhook: 'Imposta il webhook',
    event: 'Invia un evento di prova',
    tryIt: 'Leggi la guida rapida',
    goLive: 'Apri la lista di controllo',
    topUp: 'Ricarica',
    key: 'Crea una chiave',
  },
  waiting: {
    answer: 'In attesa della prima risposta. Comparirà qui.',
    request: 'In attesa della prima richiesta. Comparirà qui.',
  },
};

/** The command palette, in Italian. */
const palette: CoreMessages['palette'] = {
  open: 'Vai a…',
  title: 'Trova una pagina, un’app, una chiave o una guida, o fai qualcosa',
  placeholder: 'Scrivi un nome',
  results: 'Risultati',
  none: 'Nessun risultato.',
  count: (count) => (count === 1 ? '1 risultato' : `${count} risultati`),
  pages: 'Pagina',
  acts: 'Azione',
  verify: 'Verifica una ricevuta',
  createKey: 'Crea una chiave API',
  topUp: 'Ricarica il portafoglio',
  invoices: 'Guarda le fatture',
  addPasskey: 'Aggiungi una passkey',
  changePassword: 'Cambia la password',
  registerApp: 'Registra un’app',
  invite: 'Invita un membro',
  theme: (name) => `Aspetto: ${name}`,
  language: (name) => `Lingua: ${name}`,
  analytics: 'statistiche',
  webhook: 'il webhook',
  keyUsage: 'Consumi della chiave',
  guides: {
    'quick-start': 'Guida rapida',
    connect: 'Collega gli utenti',
    gateway: 'Usa il gateway',
    'receive-webhooks': 'Ricevi i webhook',
    'go-live': 'Vai in produzione',
  },
};

/** Signing in and up, in Italian. */
const session: CoreMessages['session'] = {
  email: 'Indirizzo email',
  password: 'Password',
  show: 'Mostra',
  hide: 'Nascondi',
  showPassword: 'Mostra la password',
  hidePassword: 'Nascondi la password',
  businessName: 'Nome dell’azienda',
  displayName: 'Il tuo nome',
  passwordHint: 'Almeno 12 caratteri. Più parole si ricordano meglio di tanti simboli.',
  stepUpTitle: 'Conferma che sei tu',
  stepUpLead: 'È un’operazione delicata e hai fatto l’accesso da un po’.',
  stepUpCode: 'Usa un codice',
  stepUpPassword: 'Usa la password',
  stepUpPasskey: 'Usa una passkey',
  stepUpSso: (name) => `Accedi di nuovo con ${name ?? 'la tua organizzazione'}`,
  stepUpConfirm: 'Conferma',
  stepUpChecking: 'Verifica in corso…',
  toSignIn: 'Accedi',
  forgotten: 'Password dimenticata?',
  toConsole: 'Vai alla console',
};

/** Charts by day, in Italian. */
const charts: CoreMessages['charts'] = {
  day: 'Giorno',
  total: 'Totale',
  others: 'Altri',
  before: 'Periodo precedente',
  nothingBefore: (days) => `niente nei ${days} giorni precedenti`,
  sameAsBefore: (days, before) => `come nei ${days} giorni precedenti (${before})`,
  moreThanBefore: (percent, days, before) => `${percent} in più rispetto ai ${days} giorni precedenti (${before})`,
  lessThanBefore: (percent, days, before) => `${percent} in meno rispetto ai ${days} giorni precedenti (${before})`,
  daysInUtc: 'I giorni cominciano a mezzanotte UTC',
  keysHint: 'Con le frecce ti sposti di giorno in giorno, con Pagina su e Pagina giù di settimana in settimana.',
  showTable: 'Mostra come tabella',
  showChart: 'Mostra come grafico',
  csv: 'CSV',
  png: 'PNG',
  saveCsv: 'Salva come CSV',
  savePng: 'Salva come PNG',
};

/** Texts of the frame and of the first page in Italian. */
export const itCore: CoreMessages = {
  common,
  shell,
  errors,
  faults,
  serviceFaults,
  session,
  charts,
  palette,
  firstSteps,
  overview,
  plans,
};
