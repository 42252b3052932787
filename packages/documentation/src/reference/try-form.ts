import { type Html, html } from '@svc/pages';
import { credentialOf } from './credentials.ts';
import { typeOf } from './describe-schema.ts';
import { type Api, dereference, type Operation, type Parameter, type Schema } from './openapi.ts';

const JSON_TYPE = 'application/json';
const FORM_TYPES = ['multipart/form-data', 'application/x-www-form-urlencoded'];

/**
 * Returns true for pages that browsers are redirected to and for calls between machines, which cannot be tried here.
 */
export const isForBrowsers = ({ path }: Operation): boolean =>
  /\/(sso|interaction|portal|events)\b|\/submit$|\/oauth\/authorize$/.test(path) &&
  !path.startsWith('/v1/integrations/apps');

/**
 * Renders a form that sends the operation's request; undefined if the operation cannot be tried. The script enables its
 * button.
 */
export const tryForm = (operation: Operation, api: Api): Html | undefined => {
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
