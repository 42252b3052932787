import { type Api, dereference, type Schema } from './openapi.ts';

/** Realistic example values by field name. */
const KNOWN: Readonly<Record<string, unknown>> = {
  email: 'ada@apps.example',
  password: 'a long passphrase',
  current_password: 'a long passphrase',
  new_password: 'another long passphrase',
  account_type: 'business',
  business_name: 'Ada Apps',
  name: 'Notes',
  redirect_uri: 'http://127.0.0.1:3000/callback',
  redirect_uris: ['http://127.0.0.1:3000/callback'],
  messages: [{ role: 'user', content: 'Where does the sun rise?' }],
  prompt: 'Where does the sun rise?',
  input: 'Where does the sun rise?',
  model: 'svc-chat',
  plan_id: 'starter',
  success_url: 'http://127.0.0.1:3000/paid',
  cancel_url: 'http://127.0.0.1:3000/',
  return_url: 'http://127.0.0.1:3000/',
  url: 'https://apps.example/webhooks',
  amount_micros: 10_000_000,
  scope: 'inference usage:read',
  state: 'sixteen-characters-or-more',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  grant_type: 'refresh_token',
};
/** Values that an operation needs beside or instead of the usual ones. */
const OF_OPERATION: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  createCompletion: { model: 'svc-completion' },
  createEmbeddings: { model: 'svc-embedding' },
  signInWithPasskey: {
    id: 'aWQ',
    rawId: 'aWQ',
    response: { clientDataJSON: 'e30', authenticatorData: 'e30', signature: 'e30' },
  },
  addPasskey: { id: 'aWQ', rawId: 'aWQ', response: { clientDataJSON: 'e30', attestationObject: 'e30' } },
  finishSignIn: { code: '123456' },
  reauthenticate: { password: 'a long passphrase' },
};

/** Creates a request body with example values for the required fields. */
export const exampleOf = (schema: Schema, api: Pick<Api, 'schemas'>, operationId: string): unknown => {
  const found = dereference(schema, api).schema;
  const fields = (found.required ?? []).map((name) => [name, exampleValue(name, found.properties?.[name] ?? {}, api)]);
  if (found.properties?.['business_name'] !== undefined) fields.push(['business_name', KNOWN['business_name']]);
  return { ...Object.fromEntries(fields), ...OF_OPERATION[operationId] };
};

const exampleValue = (name: string, given: Schema, api: Pick<Api, 'schemas'>): unknown => {
  const { schema } = dereference(given, api);
  if (KNOWN[name] !== undefined) return KNOWN[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf?.[0] !== undefined) return exampleValue(name, schema.anyOf[0], api);
  switch (schema.type) {
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return '…';
  }
};
