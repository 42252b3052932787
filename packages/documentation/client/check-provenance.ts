import { type ProvenanceFault, ProvenanceRejectedError, type Signer, verifyProvenance } from '@svc/partner-sdk';
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
const provenanceTexts: ProvenanceTexts = TEXTS[pageLanguage];

const TIMEOUT_MS = 30_000;

/** Fills the places for the form that checks a message against its proof. Nothing of them leaves the page. */
export const enableProvenanceCheck = (): void => {
  for (const place of document.querySelectorAll<HTMLElement>('[data-widget="check-provenance"]')) fill(place);
};

const fill = (place: HTMLElement): void => {
  // Read when the page opens, so that a check needs no connection.
  const signer = readSigner();
  signer.catch(() => undefined);
  const form = document.createElement('form');
  const message = addField(form, { name: 'message', label: provenanceTexts.message, rows: 8 });
  const proof = addField(form, { name: 'proof', label: provenanceTexts.proof, rows: 4 });
  const button = document.createElement('button');
  button.type = 'submit';
  button.textContent = provenanceTexts.check;
  const status = document.createElement('span');
  status.role = 'status';
  const line = document.createElement('p');
  line.append(button, ' ', status);
  const claims = document.createElement('pre');
  claims.tabIndex = 0;
  claims.hidden = true;
  claims.ariaLabel = provenanceTexts.claims;
  form.append(line, claims);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    claims.hidden = true;
    try {
      const found = await check({ message: message.value, proof: proof.value }, signer);
      status.textContent = provenanceTexts.genuine;
      claims.textContent = JSON.stringify(found, null, 2);
      claims.hidden = false;
    } catch (error) {
      status.textContent = reasonOf(error);
    }
  });
  place.append(form);
};

const addField = (
  form: HTMLFormElement,
  { name, label: text, rows }: { readonly name: string; readonly label: string; readonly rows: number },
): HTMLTextAreaElement => {
  const field = document.createElement('textarea');
  field.id = `check-provenance-${name}`;
  field.rows = rows;
  field.spellcheck = false;
  const label = document.createElement('label');
  label.htmlFor = field.id;
  label.textContent = text;
  const line = document.createElement('p');
  line.append(label, field);
  form.append(line);
  return field;
};

const readSigner = async (): Promise<Signer> => {
  const [keys, { issuer }] = await Promise.all(
    ['/v1/provenance/jwks', '/.well-known/oauth-authorization-server'].map(async (address) => {
      const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (!response.ok) throw new Error(`${address} returned status ${response.status}`);
      return await response.json();
    }),
  );
  return { keys, issuer };
};

const check = async (pasted: { readonly message: string; readonly proof: string }, signer: Promise<Signer>) => {
  const message = JSON.parse(pasted.message);
  const proof = pasted.proof.trim() || message?.extensions?.provenance;
  return await verifyProvenance(message, typeof proof === 'string' ? proof : '', await signer);
};

const reasonOf = (error: unknown): string => {
  if (error instanceof ProvenanceRejectedError) return provenanceTexts.faults[error.fault];
  if (error instanceof SyntaxError || error instanceof TypeError) return provenanceTexts.noMessage;
  return provenanceTexts.noKeys;
};
