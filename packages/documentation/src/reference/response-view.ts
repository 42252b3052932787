import { type Html, html } from '@svc/pages';
import { codeBlock, codeTexts } from '../markdown/index.ts';
import { ROOT } from '../site/index.ts';
import { fieldItem, fieldList, inline } from './describe-schema.ts';
import { type Api, dereference, errorsOf, headersOf, type NamedError, type Response } from './openapi.ts';

/** Headers that any response has, described once. */
const SAID_ONCE = new Set(['X-Request-Id']);

/** Renders a successful response: its headers, an example and its fields. */
export const responseView = (status: string, response: Response, api: Api): Html => {
  const headers = headersOf(response, api).filter(([name]) => !SAID_ONCE.has(name));
  const [json] = Object.values(response.content ?? {});
  const fields = json?.schema === undefined ? undefined : fieldList(json.schema, api);
  const name = json?.schema === undefined ? undefined : dereference(json.schema, api).name;
  return html`<dt><code class="status-${status.slice(0, 1)}">${status}</code></dt>
<dd>${response.description.split('\n\n').map((text) => html`<p>${inline(text)}</p>`)}
${Object.entries(response.content ?? {}).map(([type, { example }]) => exampleView(type, example))}
${fields !== undefined && html`<details><summary>Fields${name !== undefined && ` of ${name}`}</summary>${fields}</details>`}
${
  headers.length > 0 &&
  html`<details><summary>Headers</summary><dl class="fields">${headers.map(([header, { description, schema }]) =>
    fieldItem({ name: header, field: { ...schema, description }, isRequired: false }, api),
  )}</dl></details>`
}</dd>
`;
};

/** Content types whose example says more than the type. */
const SHOWN_TEXTS = new Set(['text/event-stream', 'text/csv', 'text/plain']);

/** Pages and files are not shown, but JSON and events are. */
const exampleView = (type: string, example: unknown): Html | false => {
  if (type === 'application/json') {
    return codeBlock(JSON.stringify(example, null, 2), { language: 'json', role: undefined }, codeTexts.en);
  }
  if (!SHOWN_TEXTS.has(type)) return false;
  return codeBlock(String(example), { language: 'text', role: undefined }, codeTexts.en);
};

/** Codes of more operations than this have their meaning on the page of errors alone. */
const OPERATIONS_MAX = 20;

/** Returns the codes that most operations answer, such as those of a missing credential. */
export const commonCodesOf = ({ operations }: Pick<Api, 'operations'>): ReadonlySet<string> => {
  const counts = new Map<string, number>();
  for (const { responses } of operations) {
    for (const { code } of Object.values(responses).flatMap(errorsOf)) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count > OPERATIONS_MAX).map(([code]) => code));
};

/** Renders the codes of an error response. Each leads to its example on the page of errors. */
export const errorView = (status: string, response: Response, common: ReadonlySet<string>): Html => {
  const errors = errorsOf(response);
  return html`<dt><code class="status-${status.slice(0, 1)}">${status}</code></dt>
<dd>${
    errors.length === 0
      ? response.description.split('\n\n').map((text) => html`<p>${inline(text)}</p>`)
      : errors.map((error) => errorLine(error, common))
  }</dd>
`;
};

const errorLine = ({ code, meaning }: NamedError, common: ReadonlySet<string>): Html =>
  html`<p><a href="${ROOT}/errors#${code}"><code>${code}</code></a>${!common.has(code) && html` ${inline(meaning)}`}</p>`;
