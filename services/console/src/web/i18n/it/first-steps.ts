import type { CoreMessages } from '../en/index.ts';

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
