import { type Html, html } from '@svc/pages';
import { codeBlock, codeTexts } from '../markdown/code-block.ts';
import { codeTabs, type Heading, toSlug } from '../markdown/render-markdown.ts';
import type { Page } from '../page/render-page.ts';
import { ROOT } from '../site/sources.ts';
import { codeSamples, credentialFields, credentialLine, credentialOf } from './code-samples.ts';
import { commonCodesOf, errorView, fieldItem, fieldList, inline, responseView, typeOf } from './describe-schema.ts';
import { type Api, dereference, type Operation, type Parameter, readApi, type Schema, type Tag } from './openapi.ts';
import { indexMarkdown, tagMarkdown } from './reference-markdown.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPES = ['multipart/form-data', 'application/x-www-form-urlencoded'];

/**
 * Returns true for pages that browsers are redirected to and for calls between machines, which cannot be tried here.
 */
const isForBrowsers = ({ path }: Operation): boolean =>
  /\/(sso|interaction|portal|events)\b|\/submit$|\/oauth\/authorize$/.test(path) &&
  !path.startsWith('/v1/integrations/apps');

/**
 * Renders a form that sends the operation's request; undefined if the operation cannot be tried. The script enables its
 * button.
 */
const tryForm = (operation: Operation, api: Api): Html | undefined => {
  if (isForBrowsers(operation)) return undefined;
  const { operationId, method, path, parameters } = operation;
  const { type: bodyType, schema: bodySchema, example } = bodyOf(operation);
  return html`<form class="try" data-method="${method}" data-path="${path}" data-credential="${credentialOf(operation) ?? ''}" data-body="${bodyType ?? ''}">
${parameters.map((parameter) => parameterField(operationId, parameter, api))}
${bodyType === JSON_TYPE && jsonField(operationId, example)}
${bodyType !== JSON_TYPE && bodySchema !== undefined && formFields(operationId, bodySchema, api)}
<p><button type="submit" disabled>Send ${method}</button> <span class="status" role="status"></span></p>
<pre class="answer" tabindex="0" aria-label="Answer" hidden></pre>
</form>`;
};

const bodyOf = ({
  requestBody,
}: Operation): { readonly type?: string; readonly schema?: Schema | undefined; readonly example?: unknown } => {
  const [found] = Object.entries(requestBody?.content ?? {}).filter(
    ([type]) => type === JSON_TYPE || FORM_TYPES.includes(type),
  );
  return found === undefined ? {} : { type: found[0], schema: found[1].schema, example: found[1].example };
};

const parameterField = (operationId: string, { name, in: place, required, schema }: Parameter, api: Api): Html => {
  const id = `try-${operationId}-${name}`;
  const fallback = schema.default === undefined ? '' : String(schema.default);
  return html`<p><label for="${id}"><code>${name}</code> <span class="type">${place}</span></label>
<input id="${id}" data-in="${place}" name="${name}" placeholder="${fallback || typeOf(schema, api)}"${required && html` required`} autocomplete="off" spellcheck="false"></p>
`;
};

const jsonField = (operationId: string, body: unknown): Html => {
  const id = `try-${operationId}-body`;
  const example = JSON.stringify(body, null, 2);
  return html`<p><label for="${id}">Body <span class="type">JSON</span></label>
<textarea id="${id}" data-in="json" rows="${Math.min(example.split('\n').length + 1, 16)}" spellcheck="false">${example}</textarea></p>
`;
};

const formFields = (operationId: string, schema: Schema, api: Api): readonly Html[] => {
  const found = dereference(schema, api).schema;
  return Object.entries(found.properties ?? {}).map(([name, field]) => {
    const id = `try-${operationId}-${name}`;
    const isFile = field.format === 'binary';
    const isRequired = found.required?.includes(name) ?? false;
    return html`<p><label for="${id}"><code>${name}</code> <span class="type">form</span></label>
<input id="${id}" data-in="form" name="${name}"${isFile && html` type="file"`}${isRequired && html` required`} autocomplete="off" spellcheck="false"></p>
`;
  });
};

const INDEX = `${ROOT}/reference`;
/** Statuses that any operation may return; described once. */
const SAID_ONCE = new Set(['500', '413', '415']);

/** Renders the API reference: an overview of all operations, and a page for each group. */
export const referencePages = (document: unknown): readonly Page[] => {
  const api = readApi(document);
  return [indexPage(api), ...api.tags.map((tag) => tagPage(tag, api))];
};

const addressOfTag = (tag: string): string => `${INDEX}/${toSlug(tag)}`;

const indexPage = (api: Api): Page => ({
  address: INDEX,
  language: 'en',
  area: 'reference',
  translations: {},
  title: 'API reference',
  headings: api.tags.map(({ name }) => ({ level: 2, id: toSlug(name), text: name })),
  markdown: indexMarkdown(api),
  content: html`<h1>API reference</h1>
<p>Every public operation, from the <a href="/v1/openapi.json">OpenAPI document</a> that this server answers, and every webhook event, also in the <a href="/v1/asyncapi.json">AsyncAPI document</a>. Bodies are JSON with snake_case fields; times are
RFC 3339 in UTC; amounts are whole millionths (1 EUR is 1,000,000). Each response carries <code>X-Request-Id</code>; any may be 413, 415 or 500. Lists look like <code>{"data": […]}</code>.
<a href="${ROOT}/errors">All error codes</a> are on one page.</p>
${api.tags.map(
  ({
    name,
    description,
  }) => html`<h2 id="${toSlug(name)}"><a class="anchor" href="${addressOfTag(name)}">${name}</a></h2>
<p>${inline(description)}</p>
<ul class="operations">${operationsOf(name, api).map(
    (operation) =>
      html`<li><a href="${addressOfTag(name)}#${toSlug(operation.operationId)}">${methodAndPath(operation)}</a> ${inline(operation.summary)}</li>`,
  )}</ul>
`,
)}`,
});

const tagPage = ({ name: tag, description }: Tag, api: Api): Page => {
  const common = commonCodesOf(api);
  const operations = operationsOf(tag, api);
  const webhooks = api.webhooks.filter(({ tags }) => tags.includes(tag));
  return {
    address: addressOfTag(tag),
    language: 'en',
    area: 'reference',
    translations: {},
    title: tag,
    headings: [...operations, ...webhooks].map((operation) => headingOf(operation)),
    markdown: tagMarkdown({ name: tag, description }, api),
    content: html`<p class="above"><a href="${INDEX}">API reference</a></p>
<h1>${tag}</h1>
<p>${inline(description)}</p>
${credentialFields(operations)}
${operations.map((operation) => operationView(operation, { api, common }))}
${webhooks.map((webhook) => webhookView(webhook, api))}`,
  };
};

const operationsOf = (tag: string, { operations }: Api): readonly Operation[] =>
  operations.filter(({ tags }) => tags.includes(tag));

const headingOf = ({ operationId, summary }: Operation): Heading => ({
  level: 2,
  id: toSlug(operationId),
  text: summary.replaceAll('`', ''),
});

const operationView = (operation: Operation, { api, common }: { api: Api; common: ReadonlySet<string> }): Html => {
  const { summary, description, parameters, operationId } = operation;
  const id = toSlug(operationId);
  const responses = Object.entries(operation.responses).filter(([status]) => !SAID_ONCE.has(status));
  const successes = responses.filter(([status]) => status < '4');
  const errors = responses.filter(([status]) => status >= '4');
  return html`<section class="operation">
<h2 id="${id}"><a class="anchor" href="#${id}">${inline(summary)}</a></h2>
<p class="endpoint">${methodAndPath(operation)}</p>
${description !== undefined && html`<p>${inline(description)}</p>`}
<p class="hint">${credentialLine(operation)}</p>
${!isForBrowsers(operation) && samplesView(operation)}
${
  parameters.length > 0 &&
  html`<h3>Parameters</h3>
<dl class="fields">${parameters.map(({ name, required, schema }) => fieldItem({ name, field: schema, isRequired: required }, api))}</dl>`
}
${requestView(operation, api)}
<h3>Responses</h3>
<dl class="answers">${successes.map(([status, response]) => responseView(status, response, api))}</dl>
${
  errors.length > 0 &&
  html`<details><summary>Errors: ${errors.map(([status]) => html`<code class="status-4">${status}</code> `)}</summary>
<dl class="answers">${errors.map(([status, response]) => errorView(status, response, common))}</dl></details>`
}
${tryForm(operation, api)}
</section>`;
};

const samplesView = (operation: Operation): Html => {
  const panels = [...codeSamples(operation)].map(
    ([tab, { language, code }]) => [tab, codeBlock(code, { language, role: undefined }, codeTexts.en)] as const,
  );
  return html`<h3>Request</h3>
${codeTabs({ name: `request-${operation.operationId}`, panels: new Map(panels), texts: codeTexts.en })}`;
};

const requestView = ({ requestBody }: Operation, api: Api): readonly Html[] =>
  Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema = {} }]) => html`<h3>Body <span class="type">${type}</span></h3>
${fieldList(schema, api) ?? html`<p>${typeOf(schema, api)}</p>`}`,
  );

const webhookView = (webhook: Operation, api: Api): Html => {
  const { schema, example } = webhook.requestBody?.content['application/json'] ?? {};
  const id = toSlug(webhook.operationId);
  return html`<section class="operation">
<h2 id="${id}"><a class="anchor" href="#${id}">${inline(webhook.summary)}</a></h2>
<p class="endpoint"><code class="method">POST</code> <code>your webhook URL</code></p>
${webhook.description !== undefined && html`<p>${inline(webhook.description)}</p>`}
${codeBlock(JSON.stringify(example, null, 2), { language: 'json', role: undefined }, codeTexts.en)}
${schema !== undefined && fieldList(schema, api)}
</section>`;
};

const methodAndPath = ({ method, path }: Operation): Html =>
  html`<code class="method method-${method.toLowerCase()}">${method}</code> <code>${path}</code>`;
