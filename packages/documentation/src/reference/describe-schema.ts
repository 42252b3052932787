import { type Html, html, trustedHtml } from '@svc/pages';
import { codeBlock, codeTexts } from '../markdown/code-block.ts';
import { renderMarkdown } from '../markdown/render-markdown.ts';
import { ROOT } from '../site/sources.ts';
import { type Api, dereference, errorsOf, headersOf, type NamedError, type Response, type Schema } from './openapi.ts';

/** Texts of the contract repeat: a code's meaning stands at each operation that answers it. */
const rendered = new Map<string, Html>();

/** Renders contract text with its backticks. */
export const inline = (text: string): Html => {
  const known = rendered.get(text);
  if (known !== undefined) return known;
  const { content } = renderMarkdown(text, { resolveLink: (href) => href });
  const html = trustedHtml(content.markup.replace(/^<p>/, '').replace(/<\/p>\s*$/, ''));
  rendered.set(text, html);
  return html;
};

/** Maximum depth of nested objects. */
const DEPTH_MAX = 4;
const SAFE_INTEGER_MAX = Number.MAX_SAFE_INTEGER;

/** Describes the type of a value briefly, such as `string or null`. */
export const typeOf = (given: Schema, api: Pick<Api, 'schemas'>): string => {
  const { schema } = dereference(given, api);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((one) => typeOf(one, api)))].join(' or ');
  if (schema.type === 'array') return schema.items === undefined ? 'array' : `array of ${typeOf(schema.items, api)}`;
  if (typeof schema.type === 'string') return schema.format === 'binary' ? 'file' : schema.type;
  return schema.type?.join(' or ') ?? 'any';
};

/** Renders the fields of an object and of nested objects. */
export const fieldList = (given: Schema, api: Pick<Api, 'schemas'>, depth = 0): Html | undefined => {
  const schema = objectIn(given, api);
  if (schema?.properties === undefined || depth >= DEPTH_MAX) return undefined;
  const fields = Object.entries(schema.properties);
  if (fields.length === 0) return undefined;
  const required = new Set(schema.required);
  return html`<dl class="fields">
${fields.map(([name, field]) => fieldItem({ name, field, isRequired: required.has(name) }, api, depth))}</dl>
`;
};

/** Renders a field or parameter with type, limits and description. */
export const fieldItem = (
  { name, field, isRequired }: { name: string; field: Schema; isRequired: boolean },
  api: Pick<Api, 'schemas'>,
  depth = 0,
): Html => {
  const limits = limitsOf(field, api);
  const { description } = dereference(field, api).schema;
  return html`<dt><code>${name}</code> <span class="type">${typeOf(field, api)}</span>${isRequired && html` <span class="required">required</span>`}</dt>
<dd>${description !== undefined && html`<p>${inline(description)}</p>`}${limits !== '' && html`<p class="limits">${limits}</p>`}${fieldList(field, api, depth + 1)}</dd>
`;
};

/** Returns the object in a schema: itself, an alternative, or a list's item. */
export const objectIn = (given: Schema, api: Pick<Api, 'schemas'>): Schema | undefined => {
  const { schema } = dereference(given, api);
  if (schema.properties !== undefined) return schema;
  if (schema.items !== undefined) return objectIn(schema.items, api);
  for (const one of schema.anyOf ?? []) {
    const found = objectIn(one, api);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Returns the limits of a value in words, such as `at most 80 characters`. */
export const limitsOf = (given: Schema, api: Pick<Api, 'schemas'>): string => {
  const { schema } = dereference(given, api);
  const own = [
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
    range([schema.minLength, schema.maxLength], 'characters'),
    range([schema.minItems, schema.maxItems], 'items'),
    range([schema.minimum, schema.maximum], ''),
    schema.exclusiveMinimum === undefined ? undefined : `more than ${schema.exclusiveMinimum}`,
    // The name of a format is clearer than its long pattern.
    schema.format === undefined ? schema.pattern : schema.format === 'binary' ? undefined : schema.format,
  ];
  const ofOthers = (schema.anyOf ?? []).map((one) => limitsOf(one, api));
  return [...own, ...ofOthers].filter((text) => text !== undefined && text !== '').join(', ');
};

const range = ([least, most]: readonly [number | undefined, number | undefined], unit: string): string | undefined => {
  const from = least === -SAFE_INTEGER_MAX ? undefined : least;
  const to = most === SAFE_INTEGER_MAX ? undefined : most;
  if (from === undefined && to === undefined) return undefined;
  const words = from === undefined ? `at most ${to}` : to === undefined ? `at least ${from}` : `${from} to ${to}`;
  return unit === '' ? words : `${words} ${unit}`;
};

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
