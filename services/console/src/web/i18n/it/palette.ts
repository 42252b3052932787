import type { Messages } from '../en/index.ts';

/** The command palette, in Italian. */
export const palette: Messages['palette'] = {
  open: 'Vai a…',
  title: 'Vai a una pagina, un’app, una chiave o una guida',
  placeholder: 'Scrivi un nome',
  results: 'Destinazioni',
  none: 'Nulla ha questo nome.',
  count: (count) => (count === 1 ? '1 destinazione' : `${count} destinazioni`),
  pages: 'Pagina',
  webhook: 'il webhook',
  keyUsage: 'Consumi della chiave',
  guides: {
    'quick-start': 'Primi passi',
    connect: 'Collegare gli utenti',
    gateway: 'Usare il gateway',
    'receive-webhooks': 'Ricevere i webhook',
    'go-live': 'Andare in produzione',
  },
};
