import type { PortalNotice, SandboxCard, SubscriptionStatus } from '@svc/contracts';

/** Languages of the pages. */
export type Locale = 'it' | 'en';

/** Cards have the same names everywhere. */
const CARD_NAMES: Readonly<Record<SandboxCard, string>> = {
  succeeds: 'Visa •••• 4242',
  asks_to_confirm: 'Visa •••• 3184',
  declines_renewals: 'Visa •••• 0341',
  declines: 'Visa •••• 0002',
};

const en = {
  sandbox: 'Sandbox',
  sandboxNote: 'Sandbox payments: no money is taken, and no real card is ever asked for.',
  otherLanguage: 'Italiano',
  per: { month: 'per month', year: 'per year' },
  checkout: 'Checkout',
  subscribeTo: (plan: string) => `Subscribe to ${plan}`,
  topUp: 'Wallet top-up',
  dueToday: 'Due today',
  topUpItem: 'Credit for API keys',
  aWeek: (amount: string) => `Up to ${amount} of use a week`,
  aMonth: (amount: string) => `Up to ${amount} of use a month`,
  chat: 'Chat',
  audio: 'Audio transcription',
  renewsItself: (price: string) => `You pay ${price} until you cancel, which you can do at any time.`,
  testCards: 'Test cards, one for each way that a payment can go.',
  pay: (amount: string) => `Pay ${amount}`,
  goBack: 'Cancel and go back',
  back: 'Go back',
  proceed: 'Continue',
  expired: 'This checkout has expired. Nothing was paid.',
  reverted: 'Another subscription is active, so this payment was reverted and nothing was taken.',
  isPaid: 'This checkout is paid.',
  cardNames: CARD_NAMES,
  cardHints: {
    succeeds: 'Every payment succeeds.',
    asks_to_confirm: 'The bank asks you to confirm each payment; renewals fail.',
    declines_renewals: 'The first payment succeeds, renewals are declined.',
    declines: 'Every payment is declined.',
  } satisfies Record<SandboxCard, string>,
  failures: {
    declined: 'The card was declined. Nothing was paid: choose another card.',
    not_confirmed: 'The payment was not confirmed. Nothing was paid: try again, or choose another card.',
  },
  bank: 'Your bank',
  confirmTitle: 'Confirm the payment',
  confirmText: (amount: string) => `The bank of the card asks: do you want to pay ${amount} to svc?`,
  confirm: 'Confirm the payment',
  fail: 'Do not confirm',
  merchant: 'Merchant',
  cardShort: 'Card',
  amount: 'Amount',
  missingTitle: 'This payment page is not open any more',
  missing: 'Payment pages can be used for an hour, from the page that led there. Go back to svc and open it again.',
  portal: 'Your subscription',
  none: 'There is no subscription. Choose a plan in svc to begin one.',
  returnTo: 'Back to svc',
  statuses: {
    incomplete: 'waiting for payment',
    incomplete_expired: 'never paid',
    trialing: 'trial',
    active: 'active',
    past_due: 'payment overdue',
    canceled: 'ended',
    unpaid: 'unpaid',
    paused: 'paused',
  } satisfies Record<SubscriptionStatus, string>,
  renewsOn: (date: string) => `Renews on ${date}.`,
  endsOn: (date: string) => `Ends on ${date} and does not renew.`,
  clock: (time: string) => `The clock of this subscription was moved: there it is ${time}.`,
  overdueTitle: 'The last payment failed',
  overdue: (date: string) => `It is tried again on ${date}. Pay now, or save another card first.`,
  overdueForGood: 'It is not tried again by itself. Pay now, or save another card first.',
  payNow: (amount: string) => `Pay ${amount} now`,
  card: 'Payment method',
  changeCard: 'Change the payment method',
  saveCard: 'Save card',
  changePlan: 'Change plan',
  newPlan: 'New plan',
  planNow: 'The new plan holds at once. One with another interval is paid for now.',
  cancelTitle: 'Cancel the subscription',
  cancelText: (date: string) => `You can use everything until ${date}, and change your mind until then.`,
  cancel: 'Cancel at the end of the period',
  resume: 'Keep the subscription',
  notices: {
    canceled: 'The subscription will end with its period.',
    resumed: 'The subscription goes on.',
    plan_changed: 'The plan was changed.',
    card_saved: 'The card was saved.',
    paid: 'The payment succeeded.',
    declined: 'The card was declined. Nothing was changed.',
    not_confirmed: 'The payment was not confirmed. Nothing was paid.',
  } satisfies Record<PortalNotice, string>,
};

/** The texts of the pages in one language. */
export type PageText = typeof en;

const it: PageText = {
  sandbox: 'Sandbox',
  sandboxNote: 'Pagamenti di prova: non si preleva denaro e non si chiede mai una carta vera.',
  otherLanguage: 'English',
  per: { month: 'al mese', year: 'all’anno' },
  checkout: 'Pagamento',
  subscribeTo: (plan) => `Abbonati a ${plan}`,
  topUp: 'Ricarica del portafoglio',
  dueToday: 'Da pagare oggi',
  topUpItem: 'Credito per le chiavi API',
  aWeek: (amount) => `Fino a ${amount} di consumo a settimana`,
  aMonth: (amount) => `Fino a ${amount} di consumo al mese`,
  chat: 'Chat',
  audio: 'Trascrizione audio',
  renewsItself: (price) => `Paghi ${price} finché non disdici, e puoi farlo in ogni momento.`,
  testCards: 'Carte di prova, una per ogni esito possibile di un pagamento.',
  pay: (amount) => `Paga ${amount}`,
  goBack: 'Annulla e torna indietro',
  back: 'Torna indietro',
  proceed: 'Continua',
  expired: 'Questo pagamento è scaduto. Non è stato pagato nulla.',
  reverted: 'Un altro abbonamento è attivo, quindi questo pagamento è stato stornato: non è stato addebitato nulla.',
  isPaid: 'Questo pagamento è stato eseguito.',
  cardNames: CARD_NAMES,
  cardHints: {
    succeeds: 'Ogni pagamento riesce.',
    asks_to_confirm: 'La banca chiede conferma di ogni pagamento; i rinnovi falliscono.',
    declines_renewals: 'Il primo pagamento riesce, i rinnovi sono rifiutati.',
    declines: 'Ogni pagamento è rifiutato.',
  },
  failures: {
    declined: 'La carta è stata rifiutata. Non è stato pagato nulla: scegli un’altra carta.',
    not_confirmed: 'Il pagamento non è stato confermato. Non è stato pagato nulla: riprova o scegli un’altra carta.',
  },
  bank: 'La tua banca',
  confirmTitle: 'Conferma il pagamento',
  confirmText: (amount) => `La banca della carta chiede: vuoi pagare ${amount} a svc?`,
  confirm: 'Conferma il pagamento',
  fail: 'Non confermare',
  merchant: 'Esercente',
  cardShort: 'Carta',
  amount: 'Importo',
  missingTitle: 'Questa pagina di pagamento non è più aperta',
  missing:
    'Le pagine di pagamento si usano entro un’ora, dalla pagina che ti ci ha portato. Torna a svc e aprila di nuovo.',
  portal: 'Il tuo abbonamento',
  none: 'Non c’è nessun abbonamento. Scegli un piano in svc per iniziarne uno.',
  returnTo: 'Torna a svc',
  statuses: {
    incomplete: 'in attesa di pagamento',
    incomplete_expired: 'mai pagato',
    trialing: 'in prova',
    active: 'attivo',
    past_due: 'pagamento in ritardo',
    canceled: 'terminato',
    unpaid: 'non pagato',
    paused: 'in pausa',
  },
  renewsOn: (date) => `Si rinnova il ${date}.`,
  endsOn: (date) => `Termina il ${date} e non si rinnova.`,
  clock: (time) => `L’orologio di questo abbonamento è stato spostato: lì è il ${time}.`,
  overdueTitle: 'L’ultimo pagamento non è riuscito',
  overdue: (date) => `Si riprova il ${date}. Paga ora, o salva prima un’altra carta.`,
  overdueForGood: 'Non si riprova da sé. Paga ora, o salva prima un’altra carta.',
  payNow: (amount) => `Paga ora ${amount}`,
  card: 'Metodo di pagamento',
  changeCard: 'Cambia il metodo di pagamento',
  saveCard: 'Salva la carta',
  changePlan: 'Cambia piano',
  newPlan: 'Nuovo piano',
  planNow: 'Il nuovo piano vale subito. Se ha un altro intervallo, si paga adesso.',
  cancelTitle: 'Disdici l’abbonamento',
  cancelText: (date) => `Puoi usare tutto fino al ${date}, e ripensarci fino ad allora.`,
  cancel: 'Disdici alla fine del periodo',
  resume: 'Mantieni l’abbonamento',
  notices: {
    canceled: 'L’abbonamento terminerà con il suo periodo.',
    resumed: 'L’abbonamento continua.',
    plan_changed: 'Il piano è stato cambiato.',
    card_saved: 'La carta è stata salvata.',
    paid: 'Il pagamento è riuscito.',
    declined: 'La carta è stata rifiutata. Non è cambiato nulla.',
    not_confirmed: 'Il pagamento non è stato confermato. Non è stato pagato nulla.',
  },
};

const TAGS = { it: 'it-IT', en: 'en-GB' } as const;
const MICROS_PER_UNIT = 1_000_000;
/** Languages in which a browser's wish is read; more of it is of no use. */
const WISHES_MAX = 10;

/** Texts and formats of a page. */
export interface PageLanguage {
  readonly locale: Locale;
  /** Whether it was asked for by name, so that the pages after this one are asked for it too. */
  readonly isChosen: boolean;
  readonly text: PageText;
  money(amountMicros: number, currency: string): string;
  date(at: Date): string;
  time(at: Date): string;
}

/** The language asked for, or else what the browser prefers; Italian where nothing else is known, as everywhere. */
export const pageLanguage = (chosen: Locale | undefined, acceptLanguage: string | undefined): PageLanguage => {
  const wishes = (acceptLanguage ?? '').split(',', WISHES_MAX).map((wish) => wish.trim().slice(0, 2).toLowerCase());
  const locale = chosen ?? wishes.find((wish) => wish === 'it' || wish === 'en') ?? 'it';
  const tag = TAGS[locale === 'en' ? 'en' : 'it'];
  const zone = { timeZone: 'UTC' } as const;
  return {
    locale: locale === 'en' ? 'en' : 'it',
    isChosen: chosen !== undefined,
    text: locale === 'en' ? en : it,
    money: (amountMicros, currency) =>
      new Intl.NumberFormat(tag, {
        style: 'currency',
        currency,
        maximumFractionDigits: 6,
        minimumFractionDigits: 2,
      }).format(amountMicros / MICROS_PER_UNIT),
    date: (at) => new Intl.DateTimeFormat(tag, { dateStyle: 'long', ...zone }).format(at),
    time: (at) => `${new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeStyle: 'short', ...zone }).format(at)} UTC`,
  };
};
