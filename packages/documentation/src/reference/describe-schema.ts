import { type Html, html, trustedHtml } from '@svc/pages';
import { renderMarkdown } from '../markdown/index.ts';
import { type Api, dereference, type Schema } from './openapi.ts';

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
