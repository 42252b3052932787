import type { CoreMessages } from '../en/index.ts';

/** Texts that every page uses, in Italian. */
export const common: CoreMessages['common'] = {
  product: 'console svc',
  skipToContent: 'Vai al contenuto',
  loading: 'Caricamento…',
  offlineTitle: 'Non ancora caricato',
  offlineText: 'Sei offline. Comparirà appena torna la connessione.',
  working: 'Attendi…',
  cancel: 'Annulla',
  close: 'Chiudi',
  save: 'Salva le modifiche',
  saved: 'Salvato',
  copy: 'Copia',
  copied: 'Copiato',
  copyFailed: 'Copia non riuscita. Seleziona il testo e copialo a mano.',
  tryAgain: 'Riprova',
  loadMore: 'Mostra altri',
  optional: 'facoltativo',
  never: 'mai',
  none: 'nessuno',
  yes: 'sì',
  no: 'no',
  back: 'Indietro',
  newTab: '(si apre in una nuova scheda)',
  requestId: 'Id della richiesta',
  notification: 'Avviso',
  notifications: 'Notifiche',
  dismiss: 'Chiudi la notifica',
  appStates: {
    active: 'attiva',
    inactive: 'disattivata',
    suspended: 'sospesa da svc',
  },
  services: {
    chat: 'Chat',
    completions: 'Completamenti',
    embeddings: 'Embedding',
    audio_transcription: 'Trascrizione audio',
  },
};

/** Navigation and the menu of the account, in Italian. */
export const shell: CoreMessages['shell'] = {
  navigation: 'Principale',
  openMenu: 'Apri il menu',
  overview: 'Panoramica',
  plan: 'Piano',
  connections: 'App collegate',
  gateway: 'Gateway API',
  keys: 'Chiavi API',
  wallet: 'Portafoglio',
  usage: 'Consumi',
  alerts: 'Avvisi via email',
  developers: 'Sviluppatori',
  documentation: 'Documentazione',
  apps: 'App',
  account: 'Account',
  settings: 'Impostazioni account',
  signOut: 'Esci',
  signingOut: 'Uscita in corso…',
  language: 'Lingua',
  theme: 'Aspetto',
  themes: { system: 'Sistema', light: 'Chiaro', dark: 'Scuro' },
  locales: { it: 'Italiano', en: 'English' },
  notFoundTitle: 'Pagina non trovata',
  notFoundText: 'Controlla l’indirizzo, o torna alla panoramica.',
  toOverview: 'Vai alla panoramica',
  crashTitle: 'Questa pagina ha avuto un problema',
  crashText:
    'Nulla di ciò che hai salvato è perso. Ricarica la pagina; se succede ancora, raccontaci che cosa hai fatto.',
  reload: 'Ricarica',
  businessOnlyTitle: 'Per gli account aziendali',
  businessOnlyText:
    'Le app si registrano e si gestiscono con un account aziendale. Per offrire un’app, passa ad aziendale nelle impostazioni dell’account.',
  outage: 'Il servizio non è raggiungibile.',
  outageEmpty: 'La pagina riprova da sola.',
  outageAge: (age) => `Dati aggiornati ${age}. La pagina riprova da sola.`,
  notLoadedTitle: 'In attesa della connessione',
  notLoadedText:
    'Sei offline oppure il servizio non è raggiungibile. La pagina si apre da sola appena torna la connessione.',
  unreachableTitle: 'Il servizio non è raggiungibile',
};

/** Errors with the next step, in Italian. */
export const errors: CoreMessages['errors'] = {
  title: 'Qualcosa è andato storto',
  next: {
    network_error: 'Il servizio non è raggiungibile. Controlla la connessione e riprova.',
    timeout: 'Nessuna risposta in tempo. L’operazione può essere avvenuta: controlla prima di ripeterla.',
    unreadable_answer: 'La risposta non è leggibile. L’operazione può essere avvenuta: controlla prima di ripeterla.',
    service_unavailable: 'Una parte del servizio non è disponibile al momento. Riprova fra un minuto.',
    internal_error:
      'Qualcosa non ha funzionato da parte nostra. Riprova; se succede ancora, mandaci l’id della richiesta qui sotto.',
    not_authenticated: 'La sessione è terminata. Accedi di nuovo.',
    invalid_token: 'La sessione è terminata. Accedi di nuovo.',
    business_account_required:
      'Può farlo solo un account aziendale. Puoi passare ad aziendale nelle impostazioni dell’account.',
    app_suspended: 'Un operatore ha sospeso questa app. Chiedi a chi gestisce il servizio perché e che cosa fare.',
    domain_taken: 'Un altro account ha dimostrato che il dominio è suo. Controlla il nome, o chiedi a chi lo usa.',
    domain_not_proven:
      'La prova non si trova sul dominio. Pubblicala come indicato, aspetta qualche minuto e ricontrolla.',
    domain_limit_reached: 'Hai cinque domini. Rimuovine uno prima di aggiungerne un altro.',
    email_not_verified:
      'Prima conferma il tuo indirizzo email: apri il link che ti abbiamo mandato, o chiedine uno nuovo nelle impostazioni dell’account.',
    account_deletion_pending:
      'Questo account sta per essere eliminato. Il link nell’email che ti abbiamo mandato annulla l’eliminazione.',
    token_invalid: 'Questo link è già stato usato o è scaduto. Chiedine uno nuovo.',
    not_found: 'Non esiste più, oppure appartiene a un altro account. Torna indietro e ricarica l’elenco.',
    request_timeout: 'La connessione era troppo lenta. Riprova.',
    payload_too_large: 'È troppo grande. Scegli qualcosa di più piccolo.',
    unsupported_media_type: 'Questo tipo di file non è accettato. Scegli un’immagine PNG, JPEG o WebP.',
    invalid_credentials: 'Indirizzo o password non corretti. Controllali e riprova.',
    too_many_attempts: 'Ci sono stati troppi tentativi falliti.',
    wrong_password: 'La password attuale non è corretta. Scrivila di nuovo.',
    fresh_sign_in_required:
      'Accedi con la tua organizzazione: esci, accedi di nuovo e ripeti l’operazione entro dieci minuti.',
    reauthentication_required: 'Non è cambiato nulla, perché non hai confermato che sei tu. Riprova.',
    wrong_code: 'Il codice o la passkey non vanno bene, o sono già stati usati. Aspetta il prossimo codice e riprova.',
    challenge_invalid: 'È passato troppo tempo. Accedi di nuovo.',
    invalid_second_factor: 'Il codice o la passkey non vanno bene, o sono già stati usati. Riprova.',
    invalid_passkey: 'Questa passkey non è valida qui. Accedi in un altro modo.',
    second_factor_required: 'Accedi dalla pagina di accesso, che chiede anche il secondo fattore.',
    passkey_rejected: 'La passkey non è stata aggiunta. Ricomincia.',
    passkey_registered: 'Questa passkey è già registrata.',
    passkey_cancelled: 'Non hai usato la passkey. Riprova, oppure scegli un altro metodo.',
    passkey_unavailable:
      'Le passkey non funzionano in questo browser o su un indirizzo IP. Prova con un altro browser o un altro metodo.',
    factor_limit_reached: 'Hai dieci secondi fattori. Rimuovine uno prima di aggiungerne un altro.',
    second_factor_missing: 'Questo secondo fattore non c’è più. L’elenco è stato ricaricato.',
    email_taken: 'Esiste già un account con questo indirizzo. Accedi invece di crearne uno.',
    public_client_has_no_secret: 'Un’app pubblica non ha un segreto: la protegge PKCE. Non c’è nulla da sostituire.',
    subscription_already_active: 'C’è già un abbonamento attivo. Modificalo nel portale di fatturazione.',
    checkout_not_completed:
      'Il pagamento non è completo, oppure il checkout è scaduto. Se hai pagato, riprova fra un minuto; altrimenti ricomincia.',
    billing_account_missing:
      'Con questo account non è stato ancora acquistato nulla, quindi non c’è un portale. Scegli prima un piano.',
    payment_provider_unavailable:
      'Il fornitore dei pagamenti non risponde. Non è stato addebitato nulla: riprova fra qualche minuto.',
    payment_method_missing:
      'Non c’è ancora un metodo di pagamento salvato. Fai una ricarica o scegli un piano: il checkout salva il metodo con cui paghi.',
    webhook_queue_full: 'Troppi eventi in attesa. Ripara il tuo ricevitore, o salta l’evento fallito.',
    webhook_not_configured: 'Per questa app non è impostato un indirizzo webhook. Impostane prima uno.',
    event_not_queued: 'Questo evento non è più in attesa. L’elenco è stato aggiornato.',
    event_not_failed: 'Questo evento non è più in errore: non c’è nulla da recuperare. L’elenco è stato aggiornato.',
    validation_error: 'Alcuni valori non sono validi. Correggili e riprova.',
  },
  notAvailableTitle: 'Non disponibile in questa versione',
  notAvailable: 'Questa parte del prodotto non è disponibile in questa versione. Il resto funziona come al solito.',
  unknown: (message) => `Il servizio dice: ${message}`,
  retryAfter: (wait) => `Puoi riprovare fra ${wait}.`,
};

/** Faults at a field, in Italian. */
export const faults: CoreMessages['faults'] = {
  summary: 'Correggi i campi segnalati.',
  missing: 'Compila questo campo.',
  tooShort: (count) => `Almeno ${count} caratteri.`,
  tooLong: (count) => `Al massimo ${count} caratteri.`,
  tooFew: (count) => (count === 1 ? 'Ne serve almeno uno.' : `Ne servono almeno ${count}.`),
  tooMany: (count) => `Al massimo ${count}.`,
  atLeast: (limit) => `Almeno ${limit}.`,
  atMost: (limit) => `Al massimo ${limit}.`,
  integer: 'Un numero intero.',
  amount: 'Un importo come 25 o 25,50.',
  email: 'Un indirizzo come nome@example.com.',
  url: 'Un indirizzo che comincia con https:// (o http:// su questo computer).',
  pattern: 'Il formato non è quello giusto.',
  notAccepted: 'Questo valore non è valido.',
};

/** Texts of the services about a value, in Italian. */
export const serviceFaults: CoreMessages['serviceFaults'] = {
  'this password is one of the most common ones': 'Questa password è fra le più comuni. Scegline un’altra.',
  'the password must not be made of the address or the name':
    'La password non deve essere ricavata dal tuo indirizzo o dal tuo nome.',
  'this password is too easy to guess':
    'Questa password è troppo facile da indovinare. Usa più parole, o parole meno comuni.',
  'must be an http or https URL': 'Un indirizzo che comincia con https:// o http://.',
  'must be in the future': 'Deve essere nel futuro.',
  'must be a whole number of cents': 'Un numero intero di centesimi.',
  'must not contain hidden characters': 'Niente caratteri invisibili.',
  'must contain a visible character': 'Serve almeno un carattere visibile.',
  'must be a valid email address': 'Un indirizzo come nome@example.com.',
  'the redirect URI stands twice': 'Questo redirect URI c’è già.',
  'a redirect URI must have no fragment': 'Un redirect URI non può avere un frammento (#).',
  'a redirect URI must have no wildcard': 'Un redirect URI non può avere caratteri jolly (*).',
  'a redirect URI must have no userinfo': 'Un redirect URI non può contenere nome utente o password.',
  'the redirect URI holds a character that must be percent-encoded': 'C’è un carattere che va codificato con %.',
  'the redirect URI is not percent-encoded correctly': 'La codifica con % non è corretta.',
  'the redirect URI must be absolute, its scheme in lower case':
    'Serve un indirizzo assoluto, con lo schema in minuscolo.',
  'the redirect URI must name a host after `://`': 'Dopo :// serve il nome di un host.',
  'the redirect URI must be in its normal form': 'L’indirizzo non è nella sua forma normale.',
  'http is only for loopback addresses: use https': 'http vale solo per indirizzi di questo computer: usa https.',
  'the scheme must be https, http on loopback, or a reverse domain name':
    'Lo schema deve essere https, http in locale, oppure un nome di dominio rovesciato.',
  'a private scheme is only for public apps': 'Uno schema privato è solo per le app pubbliche.',
  'a slash must follow the private scheme': 'Dopo lo schema privato serve una barra.',
  'the path must have no empty segment': 'Il percorso non può avere segmenti vuoti.',
  'the path must not encode delimiters or dots': 'Il percorso non può codificare separatori o punti.',
  'a redirect URI must not encode control characters': 'Un redirect URI non può codificare caratteri di controllo.',
  'the host name is malformed': 'Il nome dell’host non è valido.',
  'the query must not hold parameters of the answer': 'La query non può contenere parametri della risposta.',
  'the URL is not well-formed': 'L’indirizzo non è ben formato.',
  'the URL must begin with https://': 'L’indirizzo deve cominciare con https://.',
  'the URL must not contain a user name or password': 'L’indirizzo non può contenere nome utente o password.',
  'the port must be 443 or from 1024 to 65535': 'La porta deve essere 443 oppure da 1024 a 65535.',
  'the host must have public addresses, and no others': 'L’host deve avere indirizzi pubblici e nessun altro.',
  'there is no such plan': 'Questo piano non esiste più. Ricarica la pagina.',
};
