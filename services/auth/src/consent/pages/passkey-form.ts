import { type Html, html } from '@svc/pages';
import type { RequestOptions } from '../../factors/index.ts';
import type { FormName, SignInFrame } from './sign-in-frame.ts';

/**
 * Shows the passkey buttons if the browser supports them on this host, and submits assertions with their form. Converts
 * options itself, because many browsers lack `parseRequestOptionsFromJSON`.
 */
export const PASSKEY_SCRIPT = `
const decode = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const encode = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const ask = async (options) => {
  const allowCredentials = options.allowCredentials.map((each) => ({ ...each, id: decode(each.id) }));
  const publicKey = { ...options, challenge: decode(options.challenge), allowCredentials };
  const { id, rawId, type, response } = await navigator.credentials.get({ publicKey });
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  const sent = Object.entries({ clientDataJSON, authenticatorData, signature, userHandle }).filter(([, part]) => part);
  const members = Object.fromEntries(sent.map(([name, part]) => [name, encode(part)]));
  return { id, rawId: encode(rawId), type, response: members, clientExtensionResults: {} };
};
for (const button of document.querySelectorAll('button[data-passkey]')) {
  const options = JSON.parse(button.dataset.passkey);
  const alert = button.form.querySelector('[role=alert]');
  const isOurs = location.hostname === options.rpId || location.hostname.endsWith('.' + options.rpId);
  button.hidden = !isOurs || window.PublicKeyCredential === undefined;
  button.form.addEventListener('submit', async (event) => {
    event.preventDefault();
    alert.hidden = true;
    try {
      button.form.elements.assertion.value = JSON.stringify(await ask(options));
      button.form.submit();
    } catch {
      alert.hidden = false;
    }
  });
}
`;

/** Renders the form for a passkey. It stays hidden without the script. */
export const passkeyForm = (
  { form, text }: SignInFrame,
  { name, options, fields }: { name: FormName; options: RequestOptions; fields?: Html },
): Html =>
  form(
    name,
    html`${fields}
<input type="hidden" name="assertion">
<p class="alert" role="alert" hidden>${text.passkeyUnused}</p>
<button class="second" type="submit" hidden data-passkey="${JSON.stringify(options)}">${text.usePasskey}</button>`,
  );
