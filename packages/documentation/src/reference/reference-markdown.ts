import { toSlug } from '../markdown/render-markdown.ts';
import { ROOT } from '../site/sources.ts';
import { codeSamples, credentialLine } from './code-samples.ts';
import { limitsOf, objectIn, typeOf } from './describe-schema.ts';
import { type Api, dereference, headersOf, type Operation, type Response, type Schema, type Tag } from './openapi.ts';

/** Objects within objects are listed this deep. */
const DEPTH_MAX = 4;

/** Returns the list of all operations as Markdown. */
export const indexMarkdown = (api: Api): string => {
  const groups = api.tags.map(({ name: tag, description }) => {
    const operations = api.operations.filter(({ tags }) => tags.includes(tag));
    const items = operations.map(({ method, path, summary }) => `- \`${method} ${path}\`: ${summary}`);
    return `## [${tag}](${ROOT}/reference/${toSlug(tag)}.md)\n\n${description}\n\n${items.join('\n')}\n`;
  });
  return `# API reference\n\nEvery public operation, from the OpenAPI document at [/v1/openapi.json](/v1/openapi.json). Webhook events are in the AsyncAPI document at [/v1/asyncapi.json](/v1/asyncapi.json), too.\n\n${groups.join('\n')}`;
};

/** Returns a group of operations as Markdown: parameters, body and answers with their fields. */
export const tagMarkdown = ({ name: tag, description }: Tag, api: Api): string => {
  const operations = api.operations.filter(({ tags }) => tags.includes(tag));
  const webhooks = api.webhooks.filter(({ tags }) => tags.includes(tag));
  const parts = [
    ...operations.map((operation) => operationPart(operation, api)),
    ...webhooks.map((webhook) => webhookPart(webhook, api)),
  ];
  return `# ${tag}\n\n${description}\n\n${parts.join('\n')}`;
};

const webhookPart = (webhook: Operation, api: Api): string => {
  const example = webhook.requestBody?.content['application/json']?.example;
  return `## ${webhook.summary}\n\n\`POST\` to your webhook URL.\n\n${jsonFence(example)}${bodyPart(webhook, api)}`;
};

const jsonFence = (value: unknown): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`;

const operationPart = (operation: Operation, api: Api): string => {
  const { summary, method, path, description, parameters } = operation;
  const rows = parameters.map(({ name, required, schema }) =>
    fieldLines({ name, field: schema, isRequired: required }, api, 0),
  );
  const answers = Object.entries(operation.responses).map(([status, response]) => responsePart(status, response, api));
  const curl = codeSamples(operation).get('curl')?.code;
  return [
    `## ${summary}\n\n\`${method} ${path}\`\n`,
    ...(description === undefined ? [] : [`${description}\n`]),
    `${credentialLine(operation)}\n`,
    ...(rows.length === 0 ? [] : [`### Parameters\n\n${rows.join('')}`]),
    bodyPart(operation, api),
    `### Request\n\n\`\`\`sh\n${curl}\n\`\`\`\n`,
    `### Responses\n\n${answers.join('')}`,
  ].join('\n');
};

const bodyPart = ({ requestBody }: Operation, api: Api): string =>
  Object.entries(requestBody?.content ?? {})
    .map(
      ([type, { schema = {} }]) =>
        `\n### Body: \`${type}\`\n\n${fieldsOf(schema, api, 0) || `${typeOf(schema, api)}\n`}`,
    )
    .join('');

/** Errors look alike everywhere; their page describes them. */
const responsePart = (status: string, response: Response, api: Api): string => {
  const line = `- ${status}: ${response.description.replaceAll(/\s*\n+\s*/g, ' ')}\n`;
  const headers = headersOf(response, api).map(([name, { description }]) => `  - header \`${name}\`: ${description}\n`);
  if (status >= '400') return line;
  const json = response.content?.['application/json'];
  if (json?.schema === undefined) return line + headers.join('');
  return `${line}${headers.join('')}${fieldsOf(json.schema, api, 1)}\n${jsonFence(json.example)}\n`;
};

const fieldsOf = (given: Schema, api: Api, depth: number): string => {
  const schema = objectIn(given, api);
  if (schema?.properties === undefined || depth > DEPTH_MAX) return '';
  const required = new Set(schema.required);
  return Object.entries(schema.properties)
    .map(([name, field]) => fieldLines({ name, field, isRequired: required.has(name) }, api, depth))
    .join('');
};

const fieldLines = (
  { name, field, isRequired }: { name: string; field: Schema; isRequired: boolean },
  api: Api,
  depth: number,
): string => {
  const { description } = dereference(field, api).schema;
  const facts = [typeOf(field, api), ...(isRequired ? ['required'] : []), limitsOf(field, api)].filter(
    (text) => text !== '',
  );
  const line = `${'  '.repeat(depth)}- \`${name}\` (${facts.join(', ')})${description === undefined ? '' : `: ${description}`}\n`;
  return line + fieldsOf(field, api, depth + 1);
};
