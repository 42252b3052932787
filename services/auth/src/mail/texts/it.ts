import type { MailTexts } from '../mail.ts';

/** Italian texts of mails. */
export const italian: MailTexts = {
  verify_email: ({ token }) => ({
    subject: 'Conferma il tuo indirizzo email',
    paragraphs: ['Conferma che questo indirizzo è tuo e l’account è pronto.', 'Il link vale tre giorni.'],
    link: { label: 'Conferma indirizzo', page: 'verify-email', token },
  }),
  sign_up_repeated: () => ({
    subject: 'Hai già un account',
    paragraphs: [
      'Qualcuno si è iscritto a svc con questo indirizzo, che ha già un account. Non è cambiato nulla.',
      'Se sei stato tu, accedi. Se non ricordi la password, scegline una nuova.',
    ],
    link: { label: 'Scegli una nuova password', page: 'reset-password' },
  }),
  reset_password: ({ token }) => ({
    subject: 'Scegli una nuova password',
    paragraphs: [
      'Abbiamo ricevuto la richiesta di una nuova password per il tuo account. Il link vale una volta sola, per 30 minuti.',
      'Se non sei stato tu, ignora questa mail: la password resta quella di prima.',
    ],
    link: { label: 'Scegli una nuova password', page: 'reset-password', token },
  }),
  confirm_email_change: ({ token }) => ({
    subject: 'Conferma il nuovo indirizzo email',
    paragraphs: [
      'Questo indirizzo sta per diventare quello di un account svc. Confermalo entro 24 ore.',
      'Se non sei stato tu, ignora questa mail: non cambia nulla.',
    ],
    link: { label: 'Conferma nuovo indirizzo', page: 'confirm-email', token },
  }),
  email_change_requested: ({ token, newEmail }) => ({
    subject: 'Il tuo indirizzo email sta per cambiare',
    paragraphs: [
      `È stato chiesto di cambiare il tuo indirizzo in ${newEmail}. Il cambio vale quando viene confermato da lì.`,
      'Se non sei stato tu, annullalo con questo link entro sette giorni e scegli una nuova password.',
    ],
    link: { label: 'Annulla il cambio', page: 'undo-email', token },
  }),
  email_changed: ({ token, newEmail }) => ({
    subject: 'Il tuo indirizzo email è cambiato',
    paragraphs: [
      `L’indirizzo del tuo account adesso è ${newEmail}.`,
      'Se non sei stato tu, annulla il cambio con questo link entro sette giorni e scegli una nuova password.',
    ],
    link: { label: 'Annulla il cambio', page: 'undo-email', token },
  }),
  password_changed: () => ({
    subject: 'La tua password è cambiata',
    paragraphs: [
      'La password del tuo account è cambiata e tutte le altre sessioni sono terminate.',
      'Se non sei stato tu, scegline subito una nuova: “Password dimenticata?” nella pagina di accesso.',
    ],
  }),
  new_device: ({ device, network, at }) => ({
    subject: 'Accesso da un nuovo dispositivo',
    paragraphs: [
      `Il tuo account è stato aperto da un dispositivo mai usato prima: ${device}, rete ${network}, ${at}.`,
      'Se non sei stato tu, chiudi la sessione nella console e cambia la password.',
    ],
  }),
  api_key_created: ({ name }) => ({
    subject: 'Una nuova chiave API',
    paragraphs: [
      `È stata creata la chiave API “${name}” per il tuo account.`,
      'Se non sei stato tu, eliminala nella console e cambia la password.',
    ],
  }),
  app_connected: ({ appName }) => ({
    subject: `${appName} è collegata`,
    paragraphs: [
      `Hai collegato l’app ${appName}. Adesso può usare il tuo abbonamento.`,
      'Se non sei stato tu, scollegala nella console e cambia la password.',
    ],
  }),
};
