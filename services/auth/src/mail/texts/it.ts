import type { MailTexts } from '../mail.ts';

/** Closing paragraph of every alert. */
const ALERTS = 'Puoi cambiare le soglie di questi avvisi nella console, in “Consumi”.';

const AUTO_TOP_UP_FAILURES = {
  payment_method_missing: 'Non c’è più un metodo di pagamento salvato.',
  declined: 'Il tuo metodo di pagamento è stato rifiutato.',
  authentication_required: 'La tua banca chiede che sia tu a confermare il pagamento.',
} as const;

const ROLES = {
  viewer: 'Potrai vedere tutto, senza modificare nulla.',
  billing: 'Ti occuperai di pagamenti e piani.',
  developer: 'Lavorerai su app, webhook e sulle tue chiavi API.',
  admin: 'Gestirai tutto, tranne i proprietari.',
  owner: 'Gestirai tutto.',
} as const;

/** Italian texts of mails. */
export const italian: MailTexts = {
  verify_email: ({ token }) => ({
    subject: 'Conferma il tuo indirizzo email',
    paragraphs: ['Conferma il tuo indirizzo. Il link vale tre giorni.', 'Se non ti sei iscritto, ignora questa email.'],
    link: { label: 'Conferma indirizzo', page: 'verify-email', token },
  }),
  deletion_requested: ({ token, erasedOn, organization }) => ({
    subject: `Eliminazione ${organization === null ? 'del tuo account' : `di ${organization}`}`,
    paragraphs: [
      `È stata chiesta l’eliminazione ${organization === null ? 'del tuo account' : `di ${organization}`}. Tutto ciò che ti identifica sarà cancellato per sempre in questa data: ${erasedOn} (UTC).`,
      'Sessioni, app collegate e chiavi API sono terminate. L’abbonamento termina con il periodo già pagato.',
      'Se non sei stato tu, o hai cambiato idea, annulla l’eliminazione con questo link prima di allora.',
    ],
    link: { label: 'Annulla l’eliminazione', page: 'cancel-deletion', token },
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
      'Se non sei stato tu, ignora questa email: la password resta quella di prima.',
    ],
    link: { label: 'Scegli una nuova password', page: 'reset-password', token },
  }),
  confirm_email_change: ({ token }) => ({
    subject: 'Conferma il nuovo indirizzo email',
    paragraphs: [
      'Questo indirizzo sta per diventare quello di un account svc. Confermalo entro 24 ore.',
      'Se non sei stato tu, ignora questa email: non cambia nulla.',
    ],
    link: { label: 'Conferma nuovo indirizzo', page: 'confirm-email', token },
  }),
  link_identity: ({ token, provider }) => ({
    subject: `Vuoi accedere con ${provider}?`,
    paragraphs: [
      `Chi ha questo indirizzo presso ${provider} vuole usarlo per accedere al tuo account svc.`,
      'Se sei tu, consentilo con questo link entro 30 minuti. La tua password continua a valere.',
      'Se non sei tu, ignora questa email: non cambia nulla.',
    ],
    link: { label: `Accedi d’ora in poi con ${provider}`, page: 'sign-in/link/confirm', token },
  }),
  identity_linked: ({ provider }) => ({
    subject: `Il tuo account è collegato a ${provider}`,
    paragraphs: [
      `D’ora in poi puoi accedere a svc anche con ${provider}.`,
      'Se non sei stato tu, scegli una nuova password e contatta l’assistenza.',
    ],
    link: { label: 'Scegli una nuova password', page: 'reset-password' },
  }),
  email_change_requested: ({ token, newEmail }) => ({
    subject: 'Il tuo indirizzo email sta per cambiare',
    paragraphs: [
      `È stato chiesto di cambiare il tuo indirizzo in ${newEmail}. Il cambio vale solo dopo la conferma dal nuovo indirizzo.`,
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
    link: { label: 'Scegli una nuova password', page: 'reset-password' },
  }),
  new_device: ({ device, network, at }) => ({
    subject: 'Accesso da un nuovo dispositivo',
    paragraphs: [
      `Il ${at} è stato effettuato l’accesso al tuo account da un nuovo dispositivo: ${device ?? 'dispositivo sconosciuto'}, rete ${network ?? 'sconosciuta'}.`,
      'Se non sei stato tu, chiudi la sessione nella console e cambia la password.',
    ],
    link: { label: 'Vedi i tuoi dispositivi', page: 'account' },
  }),
  api_key_created: ({ keyName, prefix, at }) => ({
    subject: `Una nuova chiave API: ${keyName}`,
    paragraphs: [
      `La chiave API “${keyName}” (${prefix}…) è stata creata per il tuo account il ${at}.`,
      'Se non sei stato tu, eliminala nella console e cambia la password.',
    ],
    link: { label: 'Vedi le tue chiavi API', page: 'keys' },
  }),
  management_key_created: ({ name, scopes }) => ({
    subject: 'Una nuova chiave di gestione',
    paragraphs: [
      `La chiave di gestione “${name}” è stata creata per il tuo account. Può fare questo: ${scopes}.`,
      'Se non sei stato tu, eliminala nella console e cambia la password.',
    ],
    link: { label: 'Vedi le tue chiavi API', page: 'keys' },
  }),
  factor_changed: ({ change, name }) => ({
    subject: 'La tua verifica in due passaggi è cambiata',
    paragraphs: [
      {
        added: `“${name}” è stato aggiunto al tuo account come secondo fattore. D’ora in poi serve per accedere.`,
        removed: `Il secondo fattore “${name}” è stato rimosso dal tuo account.`,
        recovery_codes_renewed:
          'Sono stati creati nuovi codici di recupero per il tuo account. I precedenti non valgono più.',
        recovery_code_used: 'Un codice di recupero è stato usato per accedere al tuo account. Non vale più.',
        reset:
          'L’assistenza ha rimosso dal tuo account tutti i secondi fattori e i codici di recupero. Ora basta la password.',
      }[change],
      'Se non sei stato tu, cambia subito la password, chiudi tutte le sessioni nella console e controlla i tuoi secondi fattori.',
    ],
    link: { label: 'Vedi i tuoi secondi fattori', page: 'account' },
  }),
  organization_invitation: ({ token, organization, inviter, role }) => ({
    subject: `Entra in ${organization} su svc`,
    paragraphs: [
      `${inviter} ti invita a lavorare per ${organization}. ${ROLES[role]}`,
      'Accedi con questo indirizzo, o registrati, e accetta. Il link funziona una volta sola, per sette giorni.',
      'Se non conosci il mittente, ignora questa email. Non cambia nulla.',
    ],
    link: { label: 'Vedi l’invito', page: 'invitations', token },
  }),
  app_connected: ({ appName }) => ({
    subject: `${appName} è collegata`,
    paragraphs: [
      `Hai collegato l’app ${appName}. Adesso può usare il tuo abbonamento.`,
      'Se non sei stato tu, scollegala nella console e cambia la password.',
    ],
    link: { label: 'Vedi le app collegate', page: 'connections' },
  }),
  domain_proof_missing: ({ domain, hasLapsed }) => ({
    subject: hasLapsed ? `${domain} non è più verificato` : `Manca la prova di ${domain}`,
    paragraphs: [
      hasLapsed
        ? `Da sette giorni non troviamo la prova di ${domain}. Chi collega le tue app ora legge «Non verificato».`
        : `Oggi non abbiamo trovato la prova di ${domain}. Se manca per sette giorni, chi collega le tue app leggerà «Non verificato».`,
      'Pubblicala di nuovo come indica la console, sotto App, poi premi Controlla.',
    ],
    link: { label: 'Apri le tue app', page: 'apps' },
  }),
  app_suspended: ({ appName }) => ({
    subject: `${appName} è sospesa`,
    paragraphs: [
      `Abbiamo sospeso la tua app ${appName}. Abbiamo chiuso i suoi collegamenti e per ora non puoi riattivarla.`,
      'Se pensi che sia un errore, scrivi alla nostra assistenza.',
    ],
    link: { label: 'Apri le tue app', page: 'apps' },
  }),
  webhook_blocked: ({ appName, event, eventId, at, page }) => ({
    subject: `Il webhook ${appName === null ? 'del tuo account' : `di ${appName}`} è bloccato`,
    paragraphs: [
      `Il tuo server non ha accettato l’evento ${eventId} (${event}) in nessuno degli otto tentativi. L’ultimo: ${at}.`,
      'Gli eventi successivi di questo webhook aspettano, così arrivano in ordine. Non se ne perde nessuno.',
      `Sistema il tuo server, poi premi «Riprova» nella console, alla pagina «Webhook» ${appName === null ? 'del tuo account' : 'dell’app'}. «Salta» rinuncia all’evento.`,
    ],
    link: { label: 'Apri il webhook', page },
  }),
  webhook_paused: ({ appName, page }) => ({
    subject: `Il webhook ${appName === null ? 'del tuo account' : `di ${appName}`} è in pausa`,
    paragraphs: [
      'È bloccato da 30 giorni. Da ora rinunciamo agli eventi in attesa da 90 giorni.',
      `Sistema il tuo server e premi «Riprova» nella console, alla pagina «Webhook» ${appName === null ? 'del tuo account' : 'dell’app'}. Gli eventi ancora in attesa arrivano in ordine.`,
    ],
    link: { label: 'Apri il webhook', page },
  }),
  webhook_recovered: ({ appName, page }) => ({
    subject: `Il webhook ${appName === null ? 'del tuo account' : `di ${appName}`} funziona di nuovo`,
    paragraphs: ['Il tuo server accetta di nuovo gli eventi. Quelli in attesa arrivano ora, in ordine.'],
    link: { label: 'Apri il webhook', page },
  }),
  plan_purchased: ({ planName, on }) => ({
    subject: `Il tuo piano è ${planName}`,
    paragraphs: [
      `Grazie. Il piano ${planName} è attivo, e tutte le app che colleghi possono usarlo.`,
      `Si rinnova in questa data, se prima non lo disdici: ${on} (UTC). La fattura è nella pagina del piano.`,
    ],
    link: { label: 'Apri il tuo piano', page: 'plans' },
  }),
  plan_payment_failed: ({ planName, on }) => ({
    subject: `Il pagamento di ${planName} non è riuscito`,
    paragraphs: [
      `Non siamo riusciti ad addebitare il piano ${planName} sul tuo metodo di pagamento.`,
      `Le tue app funzionano fino a questa data: ${on} (UTC). Aggiorna prima il metodo di pagamento, e riproveremo l’addebito.`,
    ],
    link: { label: 'Aggiorna il metodo di pagamento', page: 'plans' },
  }),
  plan_cancelled: ({ planName, on }) => ({
    subject: `Il tuo piano ${planName} termina: ${on}`,
    paragraphs: [
      `Hai disdetto il piano ${planName}. Le app possono usarlo fino a questa data: ${on} (UTC). Non ti sarà addebitato altro.`,
      'Se cambi idea, fino ad allora puoi riprenderlo.',
    ],
    link: { label: 'Apri il tuo piano', page: 'plans' },
  }),
  plan_ended: ({ planName, on, isUnpaid }) => ({
    subject: `Il tuo piano ${planName} è terminato`,
    paragraphs: [
      isUnpaid
        ? `Il piano ${planName} è terminato perché manca un pagamento: ${on} (UTC).`
        : `Il piano ${planName} è terminato: ${on} (UTC).`,
      'Le app collegate non possono più usarlo. Restano collegate, e funzionano di nuovo appena scegli un piano.',
    ],
    link: { label: 'Scegli un piano', page: 'plans' },
  }),
  cap_alert: ({ percent, used, limit, resetsOn, isWeekly, planName }) => ({
    subject: `Hai usato ${percentOf(percent)} del limite ${isWeekly ? 'settimanale' : 'mensile'} del piano ${planName}`,
    paragraphs: [
      `Le tue app hanno usato ${used} su ${limit} ${isWeekly ? 'questa settimana' : 'questo mese'}.`,
      ...(percent === 100
        ? [
            'Fino al prossimo azzeramento le nuove richieste vengono rifiutate, o pagate dal portafoglio se hai attivato i consumi extra.',
          ]
        : []),
      `Il limite riparte da zero in questa data: ${resetsOn} (UTC).`,
      ALERTS,
    ],
    link: { label: 'Vedi i piani', page: 'plans' },
  }),
  app_budget_alert: ({ percent, used, limit, resetsOn, appName }) => ({
    subject: `${appName} ha usato ${percentOf(percent)} del suo budget`,
    paragraphs: [
      `L’app ${appName} ha usato ${used} sui ${limit} che le hai concesso.`,
      resetsOn === null
        ? 'Questo budget non riparte da zero.'
        : `Il budget riparte da zero in questa data: ${resetsOn} (UTC).`,
      'Puoi cambiarlo nella console, in “App collegate”.',
      ALERTS,
    ],
    link: { label: 'Vedi le app collegate', page: 'connections' },
  }),
  extra_use_alert: ({ percent, used, limit, resetsOn }) => ({
    subject: `Consumi extra: hai speso ${percentOf(percent)} dell’importo di questo mese`,
    paragraphs: [
      `Oltre i limiti del piano, le tue app hanno speso ${used} del portafoglio. L’importo mensile che consenti è ${limit}.`,
      ...(percent === 100 ? ['Quel che resta non basta: le nuove richieste vengono rifiutate.'] : []),
      `Il mese finisce in questa data: ${resetsOn} (UTC). Puoi cambiare l’importo nella console, in “Piano”.`,
      ALERTS,
    ],
    link: { label: 'Apri il tuo piano', page: 'plans' },
  }),
  key_limit_alert: ({ percent, used, limit, resetsOn, keyName }) => ({
    subject: `La chiave API ${keyName} ha usato ${percentOf(percent)} del suo limite mensile`,
    paragraphs: [
      `La chiave API “${keyName}” ha usato ${used} su ${limit} questo mese.`,
      ...(percent === 100 ? ['Le sue richieste vengono rifiutate fino al prossimo azzeramento.'] : []),
      `Il limite riparte da zero in questa data: ${resetsOn} (UTC).`,
      ALERTS,
    ],
    link: { label: 'Vedi le tue chiavi API', page: 'keys' },
  }),
  auto_top_up_failed: ({ amount, reason }) => ({
    subject: 'La ricarica automatica del portafoglio non è riuscita',
    paragraphs: [
      `La ricarica automatica di ${amount} non è riuscita. ${AUTO_TOP_UP_FAILURES[reason]}`,
      'La ricarica automatica ora è disattivata. Non ti è stato addebitato nulla.',
      'Ricarica nella console, in “Portafoglio”, con un metodo di pagamento valido, poi riattiva la ricarica automatica.',
    ],
    link: { label: 'Apri il portafoglio', page: 'wallet' },
  }),
  wallet_low: ({ balance, below }) => ({
    subject: `Nel portafoglio restano meno di ${below}`,
    paragraphs: [
      `Il tuo portafoglio contiene ${balance}. Le richieste con chiave API e i consumi extra che costano di più vengono rifiutati.`,
      'Puoi ricaricarlo nella console, in “Portafoglio”.',
      ALERTS,
    ],
    link: { label: 'Ricarica il portafoglio', page: 'wallet' },
  }),
};

/** Returns a percentage with its article: “l’80%”, “il 50%”. */
const percentOf = (percent: number): string =>
  /^(8|1$|11$)/.test(String(percent)) ? `l’${percent}%` : `il ${percent}%`;
