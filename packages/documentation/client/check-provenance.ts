import { ProvenanceRejectedError, type Signer, verifyProvenance } from '@svc/partner-sdk';
import { provenanceTexts as texts } from './provenance-texts.ts';

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
  const message = addField(form, { name: 'message', label: texts.message, rows: 8 });
  const proof = addField(form, { name: 'proof', label: texts.proof, rows: 4 });
  const button = document.createElement('button');
  button.type = 'submit';
  button.textContent = texts.check;
  const status = document.createElement('span');
  status.role = 'status';
  const line = document.createElement('p');
  line.append(button, ' ', status);
  const claims = document.createElement('pre');
  claims.tabIndex = 0;
  claims.hidden = true;
  claims.ariaLabel = texts.claims;
  form.append(line, claims);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    claims.hidden = true;
    try {
      const found = await check({ message: message.value, proof: proof.value }, signer);
      status.textContent = texts.genuine;
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
  if (error instanceof ProvenanceRejectedError) return texts.faults[error.fault];
  if (error instanceof SyntaxError || error instanceof TypeError) return texts.noMessage;
  return texts.noKeys;
};
