import type { CoreMessages } from '../en/index.ts';

/** The command palette, in Italian. */
export const palette: CoreMessages['palette'] = {
  open: 'Vai a…',
  title: 'Vai a una pagina, un’app, una chiave o una guida',
  placeholder: 'Scrivi un nome',
  results: 'Risultati',
  none: 'Nessun risultato.',
  count: (count) => (count === 1 ? '1 risultato' : `${count} risultati`),
  pages: 'Pagina',
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
