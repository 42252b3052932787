import { type Html, html } from '@svc/pages';
import type { Operation } from './openapi.ts';

/** What a caller shows, by its name in the OpenAPI document. */
interface Credential {
  readonly title: string;
  readonly hint: string;
}

const CREDENTIALS: Readonly<Record<string, Credential>> = {
  console_session: {
    title: 'Console session',
    hint: 'The session of whoever is signed in to the console in this browser, or a token from “Sign in”.',
  },
  oauth_access_token: {
    title: 'OAuth access token',
    hint: 'A token of a user who has connected your app.',
  },
  client_credentials: {
    title: 'Client id and secret',
    hint: 'Those of a confidential app, by HTTP Basic.',
  },
  api_key: { title: 'API key', hint: 'A key of the gateway, svc_sk_….' },
};

/** Name of the credential that an operation wants; undefined where it wants none. */
export const credentialOf = ({ security }: Pick<Operation, 'security'>): string | undefined =>
  security.flatMap(Object.keys)[0];

/** Returns the sentence that names the credential of an operation. */
export const credentialLine = (operation: Pick<Operation, 'security'>): string => {
  const credential = credentialOf(operation);
  if (credential === undefined) return 'Wants no credential.';
  const scheme = credential === 'client_credentials' ? 'Basic' : 'Bearer';
  return `Wants: ${credentialTitle(credential)}, as Authorization: ${scheme} ….`;
};

/** Returns the title of a credential. */
export const credentialTitle = (name: string): string => CREDENTIALS[name]?.title ?? name;

/** Fields for the credentials of a page, shown where there are scripts. They are kept in the page alone. */
export const credentialFields = (operations: readonly Operation[]): Html | false => {
  const names = [...new Set(operations.map(credentialOf))].filter((name) => name !== undefined);
  if (names.length === 0) return false;
  return html`<section class="credentials" aria-label="Credentials" hidden>
<p><strong>Try it here.</strong> Requests go to this very server, with what you enter below. It is kept in this page until you leave it.</p>
${names.map(
  (name) => html`<p><label for="credential-${name}">${credentialTitle(name)}</label>
<span class="with-button"><input type="password" id="credential-${name}" data-credential="${name}" autocomplete="off" spellcheck="false" aria-describedby="credential-${name}-hint">${
    name === 'console_session' && html`<button type="button" class="resume">Use my session</button>`
  }</span>
<span class="hint" id="credential-${name}-hint">${CREDENTIALS[name]?.hint}</span></p>
`,
)}</section>`;
};
