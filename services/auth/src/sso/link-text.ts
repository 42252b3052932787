import type { Locale } from '@svc/contracts';

const en = {
  title: (provider: string) => `Sign in with ${provider}?`,
  lead: (provider: string) =>
    `You already have an svc account with this address. Prove that it is yours, and you can sign in to it with ${provider} from now on.`,
  account: 'Account',
  withPassword: 'Continue',
  mailInstead: 'Send me a link by mail instead',
  mailOnly: 'Send me a link by mail',
  mailedTitle: 'Check your mail',
  mailed: 'We have sent a link to this address. It works once, within 30 minutes. Then sign in again.',
  confirmTitle: (provider: string) => `Sign in with ${provider} from now on?`,
  confirmLead: 'Continue only if you have just asked for this link.',
  confirm: 'Yes, link the account',
  doneTitle: 'The account is linked',
  done: (provider: string) => `From now on you can sign in with ${provider}.`,
  linkVoid: 'This link was used before or has expired. Sign in again to get a new one.',
  taken: 'This identity already belongs to another svc account.',
  overTitle: 'That took too long',
  over: 'Sign in again to start anew.',
};

type LinkText = typeof en;

const it: LinkText = {
  title: (provider) => `Vuoi accedere con ${provider}?`,
  lead: (provider) =>
    `Hai già un account svc con questo indirizzo. Dimostra che è tuo e d’ora in poi potrai accedere con ${provider}.`,
  account: 'Account',
  withPassword: 'Continua',
  mailInstead: 'Mandami invece un link per email',
  mailOnly: 'Mandami un link per email',
  mailedTitle: 'Controlla la posta',
  mailed: 'Abbiamo mandato un link a questo indirizzo. Vale una volta, per 30 minuti. Poi accedi di nuovo.',
  confirmTitle: (provider) => `Vuoi accedere d’ora in poi con ${provider}?`,
  confirmLead: 'Continua solo se hai appena chiesto questo link.',
  confirm: 'Sì, collega l’account',
  doneTitle: 'L’account è collegato',
  done: (provider) => `D’ora in poi puoi accedere con ${provider}.`,
  linkVoid: 'Questo link è già stato usato o è scaduto. Accedi di nuovo per averne un altro.',
  taken: 'Questa identità appartiene già a un altro account svc.',
  overTitle: 'È passato troppo tempo',
  over: 'Accedi di nuovo per ricominciare.',
};

const texts: Readonly<Record<Locale, LinkText>> = { en, it };

/** Returns the texts of the pages that link an identity, in one language. */
export const linkText = (locale: Locale): LinkText => texts[locale];
