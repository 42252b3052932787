import type { ProvenanceFault } from '@svc/partner-sdk';
import { pageLanguage } from './texts.ts';

interface ProvenanceTexts {
  readonly message: string;
  readonly proof: string;
  readonly check: string;
  readonly claims: string;
  readonly genuine: string;
  readonly noMessage: string;
  readonly noKeys: string;
  readonly faults: Readonly<Record<ProvenanceFault, string>>;
}

const TEXTS = {
  en: {
    message: 'Message: a chat completion, its message, or a response, as JSON',
    proof: 'Proof, unless the message contains it',
    check: 'Check',
    claims: 'Claims of the proof',
    genuine: 'This is what the service sent.',
    noMessage: 'This is no message in JSON.',
    noKeys: 'The public keys could not be read. Reload the page.',
    faults: {
      malformed: 'This is no proof.',
      unknown_key: 'No published key has signed this proof.',
      wrong_signature: 'The proof was changed.',
      wrong_issuer: 'The proof is of another service.',
      wrong_content: 'The proof is genuine, but not of this message.',
    },
  },
  it: {
    message: 'Messaggio: una chat completion, il suo messaggio o una response, in JSON',
    proof: 'Prova, se il messaggio non la contiene',
    check: 'Verifica',
    claims: 'Contenuto della prova',
    genuine: 'È ciò che il servizio ha mandato.',
    noMessage: 'Non è un messaggio in JSON.',
    noKeys: 'Non si riesce a leggere le chiavi pubbliche. Ricarica la pagina.',
    faults: {
      malformed: 'Non è una prova.',
      unknown_key: 'Nessuna chiave pubblicata ha firmato questa prova.',
      wrong_signature: 'La prova è stata modificata.',
      wrong_issuer: 'La prova è di un altro servizio.',
      wrong_content: 'La prova è autentica, ma non di questo messaggio.',
    },
  },
} as const satisfies Record<string, ProvenanceTexts>;

/** Words of the form that checks proofs. */
export const provenanceTexts: ProvenanceTexts = TEXTS[pageLanguage];
