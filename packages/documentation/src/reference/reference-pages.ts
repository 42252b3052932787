import { type Html, html, trustedHtml } from '@svc/pages';
import { type Heading, renderMarkdown, toSlug } from '../markdown/index.ts';
import type { Page } from '../page/index.ts';
import { ROOT } from '../site/index.ts';
import { credentialFields, credentialLine } from './credentials.ts';
import { fieldItem, fieldList, typeOf } from './describe-schema.ts';
import { type Api, dereference, type Operation, readApi, type Schema } from './openapi.ts';
import { indexMarkdown, tagMarkdown } from './reference-markdown.ts';
import { tryForm } from './try-form.ts';

const INDEX = `${ROOT}/reference`;
/** Codes that any operation may return; described once. */
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
  translations: {},
  title: 'API reference',
  headings: api.tags.map((tag) => ({ level: 2, id: toSlug(tag), text: tag })),
  markdown: indexMarkdown(api),
  content: html`<h1>API reference</h1>
<p>Every public operation, from the <a href="/v1/openapi.json">OpenAPI document</a> that this server answers. Bodies are JSON with snake_case fields; times are
RFC 3339 in UTC; amounts are whole millionths (1 EUR is 1,000,000). Each answer carries <code>X-Request-Id</code>. Lists look like <code>{"data": […]}</code>.
<a href="${ROOT}/errors">All error codes</a> are on one page.</p>
${api.tags.map(
  (tag) => html`<h2 id="${toSlug(tag)}"><a class="anchor" href="${addressOfTag(tag)}">${tag}</a></h2>
<ul class="operations">${operationsOf(tag, api).map(
    (operation) =>
      html`<li><a href="${addressOfTag(tag)}#${toSlug(operation.operationId)}">${methodAndPath(operation)}</a> ${inline(operation.summary)}</li>`,
  )}</ul>
`,
)}`,
});

const tagPage = (tag: string, api: Api): Page => {
  const operations = operationsOf(tag, api);
  const webhooks = api.webhooks.filter(({ tags }) => tags.includes(tag));
  return {
    address: addressOfTag(tag),
    language: 'en',
    translations: {},
    title: tag,
    headings: [...operations, ...webhooks].map((operation) => headingOf(operation)),
    markdown: tagMarkdown(tag, api),
    content: html`<p class="above"><a href="${INDEX}">API reference</a></p>
<h1>${tag}</h1>
${credentialFields(operations)}
${operations.map((operation) => operationView(operation, api))}
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

const operationView = (operation: Operation, api: Api): Html => {
  const { summary, description, parameters } = operation;
  const id = toSlug(operation.operationId);
  return html`<section class="operation">
<h2 id="${id}"><a class="anchor" href="#${id}">${inline(summary)}</a></h2>
<p class="endpoint">${methodAndPath(operation)}</p>
${description !== undefined && html`<p>${inline(description)}</p>`}
<p class="hint">${credentialLine(operation)}</p>
${
  parameters.length > 0 &&
  html`<h3>Parameters</h3>
<dl class="fields">${parameters.map(({ name, required, schema }) => fieldItem({ name, field: schema, isRequired: required }, api))}</dl>`
}
${requestView(operation, api)}
<h3>Answers</h3>
<dl class="answers">${Object.entries(operation.responses)
    .filter(([status]) => !SAID_ONCE.has(status))
    .map(([status, response]) => answerView(status, response, api))}</dl>
${tryForm(operation, api)}
</section>`;
};

const requestView = ({ requestBody }: Operation, api: Api): readonly Html[] =>
  Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema = {} }]) => html`<h3>Body <span class="type">${type}</span></h3>
${fieldList(schema, api) ?? html`<p>${typeOf(schema, api)}</p>`}`,
  );

const answerView = (status: string, { description, content }: Operation['responses'][string], api: Api): Html => {
  const schema: Schema | undefined = Object.values(content ?? {})[0]?.schema;
  // Errors share one shape, which has a page.
  const isError = status >= '400';
  const fields = schema === undefined || isError ? undefined : fieldList(schema, api);
  const name = schema === undefined || isError ? undefined : dereference(schema, api).name;
  return html`<dt><code class="status-${status.slice(0, 1)}">${status}</code></dt>
<dd>${description.split('\n\n').map((text) => html`<p>${inline(text)}</p>`)}${fields !== undefined && html`<details><summary>Fields${name !== undefined && ` of ${name}`}</summary>${fields}</details>`}</dd>
`;
};

const webhookView = (webhook: Operation, api: Api): Html => {
  const schema = webhook.requestBody?.content['application/json']?.schema;
  const id = toSlug(webhook.operationId);
  return html`<section class="operation">
<h2 id="${id}"><a class="anchor" href="#${id}">${inline(webhook.summary)}</a></h2>
<p class="endpoint"><code class="method">POST</code> <code>your webhook URL</code></p>
${schema !== undefined && fieldList(schema, api)}
</section>`;
};

const methodAndPath = ({ method, path }: Operation): Html =>
  html`<code class="method method-${method.toLowerCase()}">${method}</code> <code>${path}</code>`;

/** Renders contract text with its backticks. */
const inline = (text: string): Html => {
  const { content } = renderMarkdown(text, { resolveLink: (href) => href });
  return trustedHtml(content.markup.replace(/^<p>/, '').replace(/<\/p>\s*$/, ''));
};
