import { type Html, html } from '@svc/pages';
import type { CodeTab } from '../markdown/code-block.ts';
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

/** An operation's request in several languages, by tab. */
export type CodeSamples = ReadonlyMap<CodeTab, { readonly language: string; readonly code: string }>;

/** Parts of a request that every language writes in its way. */
interface Sample {
  readonly method: string;
  /** Path and query, filled with examples. */
  readonly path: string;
  /** Name of the variable that holds the token; undefined if the request has none. */
  readonly token: string | undefined;
  readonly isBasic: boolean;
  readonly type: string | undefined;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const TOKENS: Readonly<Record<string, string>> = {
  console_session: 'SESSION_TOKEN',
  oauth_access_token: 'ACCESS_TOKEN',
  api_key: 'API_KEY',
};
const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';

/** Writes the example request of an operation as a program. */
export const codeSamples = (operation: Operation): CodeSamples => {
  const sample = toSample(operation);
  return new Map([
    ['curl', { language: 'sh', code: curl(sample) }],
    ['typescript', { language: 'ts', code: typescript(sample) }],
    ['python', { language: 'python', code: python(sample) }],
  ] as const);
};

const toSample = (operation: Operation): Sample => {
  const { method, path, parameters, requestBody } = operation;
  const required = parameters.filter((parameter) => parameter.required);
  const filled = required
    .filter((parameter) => parameter.in === 'path')
    .reduce((address, { name, example }) => address.replace(`{${name}}`, String(example)), path);
  const query = new URLSearchParams(
    required.filter((parameter) => parameter.in === 'query').map(({ name, example }) => [name, String(example)]),
  );
  const [[type, media] = []] = Object.entries(requestBody?.content ?? {});
  const credential = credentialOf(operation);
  return {
    method,
    path: query.size === 0 ? filled : `${filled}?${query}`,
    token: TOKENS[credential ?? ''],
    isBasic: credential === 'client_credentials',
    type,
    body: isRecord(media?.example) ? media.example : undefined,
  };
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const curl = ({ method, path, token, isBasic, type, body }: Sample): string =>
  [
    `curl${method === 'GET' ? '' : ` -X ${method}`} "$SVC${path}"`,
    ...(token === undefined ? [] : [`-H "authorization: Bearer $${token}"`]),
    ...(isBasic ? ['-u "$CLIENT_ID:$CLIENT_SECRET"'] : []),
    ...curlBody(type, body),
  ].join(' \\\n  ');

const curlBody = (type: string | undefined, body: Sample['body']): readonly string[] => {
  if (type === '*/*') return ['-H "content-type: image/png"', '--data-binary @icon.png'];
  if (type === undefined || body === undefined) return [];
  const fields = Object.entries(body);
  if (type === FORM) return fields.map(([name, value]) => `--data-urlencode '${name}=${textOf(value)}'`);
  if (type === MULTIPART)
    return fields.map(([name, value]) => `-F ${name}=${name === 'file' ? '@' : ''}${textOf(value)}`);
  return [`-H "content-type: ${type}"`, `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`];
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const typescript = ({ method, path, token, isBasic, type, body }: Sample): string => {
  const authorization = isBasic
    ? // biome-ignore lint/suspicious/noTemplateCurlyInString: It is the sample's.
      ['authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`']
    : token === undefined
      ? []
      : [`authorization: \`Bearer \${${camel(token)}}\``];
  const isJson = type === 'application/json' && body !== undefined;
  const headers = [...authorization, ...(isJson ? ["'content-type': 'application/json'"] : [])];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },`]),
    ...(isJson ? [`  body: JSON.stringify(${indent(JSON.stringify(body, null, 2))}),`] : []),
    ...(type === FORM && body !== undefined
      ? [`  body: new URLSearchParams(${indent(JSON.stringify(body, null, 2))}),`]
      : []),
    ...(type === MULTIPART || type === '*/*' ? ['  body,'] : []),
  ];
  const before =
    type === MULTIPART ? "const body = new FormData();\nbody.append('file', await openAsBlob('meeting.mp3'));\n" : '';
  const image = type === '*/*' ? "const body = await openAsBlob('icon.png');\n" : '';
  const call = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `${before}${image}const response = await fetch(\`\${svc}${path}\`${call});`;
};

const camel = (name: string): string =>
  name.toLowerCase().replaceAll(/_(\w)/g, (_whole, letter: string) => letter.toUpperCase());

const indent = (text: string): string => text.replaceAll('\n', '\n  ');

const python = ({ method, path, token, isBasic, type, body }: Sample): string => {
  const given = body === undefined ? '' : indent(pythonOf(body));
  const options = [
    ...(token === undefined ? [] : [`    headers={"authorization": f"Bearer {${token.toLowerCase()}}"},`]),
    ...(isBasic ? ['    auth=(client_id, client_secret),'] : []),
    ...(type === 'application/json' && body !== undefined ? [`    json=${given},`] : []),
    ...(type === FORM && body !== undefined ? [`    data=${given},`] : []),
    ...(type === MULTIPART ? ['    files={"file": open("meeting.mp3", "rb")},'] : []),
    ...(type === '*/*' ? ['    data=open("icon.png", "rb"),'] : []),
  ];
  const rest = options.length === 0 ? '' : `,\n${options.join('\n')}\n`;
  return `response = requests.${method.toLowerCase()}(${rest === '' ? '' : '\n    '}f"{svc}${path}"${rest})`;
};

const pythonOf = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/\b(true|false|null)\b(?=,?$)/gm, (word) => PYTHON_WORDS[word] ?? word);

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
