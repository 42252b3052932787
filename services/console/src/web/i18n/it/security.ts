import type { PageMessages } from '../en/index.ts';

/** Devices that are signed in, in Italian. */
export const sessions: PageMessages['sessions'] = {
  title: 'Dove hai fatto l’accesso',
  lead: 'Disconnetti un dispositivo che non usi più. Se non lo riconosci, cambia anche la password.',
  unknownDevice: 'Dispositivo sconosciuto',
  thisDevice: 'Questo dispositivo',
  signedIn: 'Accesso',
  lastUsed: 'ultimo uso',
  from: (network) => `rete ${network}`,
  end: 'Disconnetti',
  endOf: (device, since) => `Disconnetti ${device}, accesso del ${since}`,
  ending: 'Disconnessione…',
  ended: 'Dispositivo disconnesso',
  endOthers: 'Disconnetti tutti gli altri',
  endOthersTitle: 'Disconnettere tutti gli altri dispositivi?',
  endOthersText: 'Qui la sessione continua. Le app collegate e le chiavi API continuano a funzionare.',
  othersEnded: 'Tutti gli altri dispositivi disconnessi',
  showAll: (count) => `Mostra tutti e ${count}`,
};

/** Second factors and recovery codes, in Italian. */
export const factors: PageMessages['factors'] = {
  title: 'Verifica in due passaggi',
  lead: 'Una prova in più oltre alla password: se te la rubano, da sola non apre nulla. Con una passkey accedi anche senza password.',
  empty: 'Ancora nessuno.',
  types: { totp: 'App di autenticazione', passkey: 'Passkey' },
  added: (date) => `aggiunta il ${date}`,
  lastUsed: 'ultimo uso',
  neverUsed: 'mai usata',
  remove: 'Rimuovi',
  removeOf: (name) => `Rimuovi ${name}`,
  removeTitle: (name) => `Rimuovere “${name}”?`,
  removeText: 'Non potrai più usarla per confermare che sei tu. Gli altri secondi fattori restano.',
  removeLastText:
    'È l’ultima prova in più che hai: da quel momento basta la password e i codici di recupero non valgono più.',
  removed: (name) => `“${name}” è stata rimossa`,
  addTotp: 'Aggiungi un’app di autenticazione',
  totpScan: 'Inquadra il codice con la tua app di autenticazione.',
  totpQr: 'Codice QR per la tua app di autenticazione. La chiave qui sotto dice lo stesso.',
  totpSecret: 'Chiave',
  totpSecretText: 'Non riesci a inquadrarlo? Scrivi questa chiave nell’app, o copiala.',
  totpCode: 'Codice',
  totpCodeHint: 'Le sei cifre che l’app mostra adesso.',
  totpWrong: 'Il codice è sbagliato o è scaduto. Scrivi quello che l’app mostra adesso.',
  totpConfirm: 'Attivala',
  checking: 'Verifica in corso…',
  addPasskey: 'Aggiungi una passkey',
  passkeyText:
    'La passkey resta su questo dispositivo, in un gestore di password o su una chiave di sicurezza. La usi con l’impronta, il volto o il PIN.',
  passkeyName: 'Nome',
  passkeyNameHint: 'Per distinguerla dalle altre.',
  passkeyCreate: 'Crea la passkey',
  passkeyCreating: 'In attesa di te…',
  passkeyAdded: (name) => `“${name}” è stata aggiunta`,
  passkeyObstacles: {
    browser: 'Questo browser non può usare passkey.',
    ip_address:
      'A un indirizzo IP i browser non permettono passkey. Apri questa pagina con il nome dell’host; su questo computer è localhost.',
  },
  codesTitle: 'I tuoi codici di recupero',
  codesText:
    'Se perdi il dispositivo, entri con uno di questi. Ognuno vale una volta. Li vedi solo adesso: tienili dove puoi trovarli solo tu.',
  codesReplaced: 'I codici di recupero precedenti non valgono più.',
  codes: 'Codici di recupero',
  codesDownload: 'Scarica',
  codesFile: (email, date) => `Codici di recupero di ${email} per svc, ${date}. Ognuno vale una volta.`,
  codesDone: 'Li ho salvati',
  codesLeft: (count) => (count === 1 ? 'Ne resta 1' : `Ne restano ${count}`),
  codesFewTitle: 'Restano pochi codici di recupero',
  codesFewText: 'Senza, se perdi il dispositivo resti fuori. Creane di nuovi.',
  renew: 'Crea nuovi codici',
  renewTitle: 'Creare nuovi codici di recupero?',
  renewText: 'Quelli che hai smettono subito di funzionare.',
};

/** Export and deletion of a person's data, in Italian. */
export const ownData: PageMessages['ownData'] = {
  title: 'I tuoi dati',
  exportText: 'Un file con tutto quello che conserviamo su di te. Non contiene segreti, né richieste o risposte.',
  export: 'Scarica i tuoi dati',
  exporting: 'Raccolta in corso…',
  deleteText: 'Termina ogni accesso e, dopo qualche giorno, cancella l’account per sempre.',
  delete: 'Elimina l’account',
  deleteTitle: 'Eliminare il tuo account?',
  deleteNow:
    'Subito: la sessione termina ovunque, le app collegate e le chiavi API smettono di funzionare e l’abbonamento non si rinnova.',
  deleteApps: 'Subito: le app che offri vengono disattivate.',
  deleteWallet: 'Usa prima il portafoglio: quello che resta non si può più spendere.',
  deleteLater:
    'Dopo qualche giorno: si cancella tutto ciò che porta il tuo nome. Ti mandiamo per email l’ora esatta e un link che, fino ad allora, annulla tutto.',
  passwordNeeded:
    'Scrivi la password. Se il tuo account non ne ha una, esci, accedi di nuovo e ripeti l’operazione entro dieci minuti.',
  deleteConfirm: 'Elimina il mio account',
  deleting: 'Eliminazione…',
  deletedTitle: 'Il tuo account è chiuso',
  erasedAt: (when) => `Sarà cancellato il ${when}.`,
  cancelHint: 'Hai cambiato idea? Fino ad allora il link nell’email che ti abbiamo mandato mantiene il tuo account.',
  erasedNow: 'La cancellazione è in corso.',
};
