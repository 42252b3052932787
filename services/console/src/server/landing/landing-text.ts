/** Texts of the landing page. */
const en = {
  title: 'AI on your own plan, in any app',
  description:
    'Connect apps to your own AI plan, set a limit for each, and stop them with one click. Answers come from certified providers in the EU.',
  heading: 'Bring your own AI subscription to other people’s apps',
  lead: 'Connect an app to the plan that you have, give it a limit, and stop it with one click. The app never sees a key, and answers come from certified providers in the EU.',
  signUp: 'Create an account',
  prices: 'See plans and prices',
  consentCaption: 'You allow an app, with a limit that you choose',
  overviewCaption: 'and see what each app uses',
  audiencesTitle: 'Who it is for',
  audiences: [
    {
      title: 'You use apps',
      text: 'One plan pays for the AI in all of them. Each app has its limit, and you see what it used.',
      link: 'What an app gets',
      page: 'what-apps-get',
    },
    {
      title: 'You make an app',
      text: 'Add chat and audio without a provider’s key or bill: OAuth, one endpoint and signed webhooks.',
      link: 'Read the quick start',
      page: 'quick-start',
    },
    {
      title: 'You call models from code',
      text: 'Change the base URL and the key of your client. Pay from a prepaid wallet, and get proof of the provider in every answer.',
      link: 'Use the API',
      page: 'gateway',
    },
  ],
  reasonsTitle: 'Why svc',
  reasons: [
    {
      title: 'You hold the purse',
      text: 'Limits for a week, a month or in total. What an app asks beyond them is refused.',
    },
    {
      title: 'What you write stays yours',
      text: 'Prompts and answers are passed on and never stored. We keep figures only.',
    },
    {
      title: 'Proof, not promises',
      text: 'A signed receipt for each request, with the provider and its zone where you call the API.',
    },
  ],
  consent: {
    label:
      'A page asks whether the app Notes may connect. It names what the app can do, who pays, and a limit of 2 euros a week, with the buttons Deny and Allow.',
    title: 'Notes asks to connect to your account',
    scopes: ['Use chat and audio on your behalf', 'See how much of your plan is used'],
    payer: 'Standard pays',
    left: '€4.12 left this week',
    limit: 'Limit',
    amount: '€2.00 a week',
    deny: 'Deny',
    allow: 'Allow',
  },
  overview: {
    label:
      'The overview of the console: the plan Standard is active, €0.88 of €5.00 are used this week and €3.20 of €15.00 this month, with a chart by day.',
    title: 'Usage of your plan',
    plan: 'Standard',
    state: 'active',
    week: 'This week',
    weekUse: '€0.88 of €5.00',
    month: 'This month',
    monthUse: '€3.20 of €15.00',
    days: 'By day',
  },
};

export type LandingText = typeof en;

const it: LandingText = {
  title: 'L’IA con il tuo piano, in qualsiasi app',
  description:
    'Collega le app al tuo piano di IA, dai a ciascuna un limite e fermala con un clic. Le risposte arrivano da fornitori certificati nell’UE.',
  heading: 'Porta il tuo abbonamento di IA nelle app degli altri',
  lead: 'Collega un’app al piano che hai già, dalle un limite e fermala con un clic. L’app non vede mai una chiave, e le risposte arrivano da fornitori certificati nell’UE.',
  signUp: 'Crea un account',
  prices: 'Vedi piani e prezzi',
  consentCaption: 'Consenti un’app, con il limite che scegli tu',
  overviewCaption: 'e vedi quanto usa ciascuna',
  audiencesTitle: 'A chi serve',
  audiences: [
    {
      title: 'Usi delle app',
      text: 'Un solo piano paga l’IA di tutte. Ogni app ha il suo limite, e vedi quanto ha usato.',
      link: 'Che cosa riceve un’app',
      page: 'what-apps-get',
    },
    {
      title: 'Crei un’app',
      text: 'Aggiungi chat e audio senza chiavi né fatture di un fornitore: OAuth, un solo indirizzo e webhook firmati.',
      link: 'Leggi la guida rapida',
      page: 'quick-start',
    },
    {
      title: 'Chiami i modelli dal codice',
      text: 'Cambia l’URL di base e la chiave del tuo client. Paghi da un portafoglio prepagato, e ogni risposta prova da quale fornitore arriva.',
      link: 'Usa l’API',
      page: 'gateway',
    },
  ],
  reasonsTitle: 'Perché svc',
  reasons: [
    {
      title: 'I soldi li gestisci tu',
      text: 'Limiti per settimana, per mese o in totale. Quello che un’app chiede in più viene rifiutato.',
    },
    {
      title: 'Quello che scrivi resta tuo',
      text: 'Domande e risposte passano e non vengono mai conservate. Restano solo le cifre.',
    },
    {
      title: 'Prove, non promesse',
      text: 'Una ricevuta firmata per ogni richiesta, con il fornitore e la sua zona se chiami l’API.',
    },
  ],
  consent: {
    label:
      'Una pagina chiede se l’app Notes può collegarsi. Dice che cosa potrà fare, chi paga e un limite di 2 euro a settimana, con i pulsanti Rifiuta e Consenti.',
    title: 'Notes chiede di collegarsi al tuo account',
    scopes: ['Usare chat e audio per tuo conto', 'Vedere quanto del tuo piano è usato'],
    payer: 'Paga Standard',
    left: 'Restano 4,12 € questa settimana',
    limit: 'Limite',
    amount: '2,00 € a settimana',
    deny: 'Rifiuta',
    allow: 'Consenti',
  },
  overview: {
    label:
      'La panoramica della console: il piano Standard è attivo, questa settimana sono usati 0,88 € di 5,00 € e questo mese 3,20 € di 15,00 €, con un grafico per giorno.',
    title: 'Uso del tuo piano',
    plan: 'Standard',
    state: 'attivo',
    week: 'Questa settimana',
    weekUse: '0,88 € di 5,00 €',
    month: 'Questo mese',
    monthUse: '3,20 € di 15,00 €',
    days: 'Per giorno',
  },
};

export const LANDING_TEXTS = { en, it } as const;
