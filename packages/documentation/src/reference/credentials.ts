import { type Html, html } from '@svc/pages';
import type { Operation } from './openapi.ts';

/** A caller's credential, by its name in the OpenAPI document. */
interface Credential {
  readonly title: string;
  readonly hint: string;
}

const CREDENTIALS: Readonly<Record<string, Credential>> = {
  console_session: {
    title: 'Console session',
    hint: 'The session of the user signed in to the console in this browser, or a token from “Sign in”.',
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
  management_key: { title: 'Management key', hint: 'A key for programs of the account, svc_mk_….' },
};

/** Returns the name of the credential that an operation requires; undefined for none. */
export const credentialOf = ({ security }: Pick<Operation, 'security'>): string | undefined =>
  security.flatMap(Object.keys)[0];

/** Returns the sentence that names the credential of an operation. */
export const credentialLine = (operation: Pick<Operation, 'security' | 'x-management-scope'>): string => {
  const credential = credentialOf(operation);
  if (credential === undefined) return 'No credential required.';
  const scheme = credential === 'client_credentials' ? 'Basic' : 'Bearer';
  const scope = operation['x-management-scope'];
  const other = scope === undefined ? '' : ` A management key with the scope ${scope} works too.`;
  return `Requires: ${credentialTitle(credential)}, in the header Authorization (${scheme}).${other}`;
};

/** Returns the display name of a credential. */
const credentialTitle = (name: string): string => CREDENTIALS[name]?.title ?? name;

/** Renders fields for the credentials of a page. Their values are kept only in the page. */
export const credentialFields = (operations: readonly Operation[]): Html | false => {
  const names = [...new Set(operations.map(credentialOf))].filter((name) => name !== undefined);
  if (names.length === 0) return false;
  return html`<section class="credentials" aria-label="Credentials">
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
