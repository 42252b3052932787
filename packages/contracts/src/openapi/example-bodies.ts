import { EXAMPLE_TIME, exampleId } from './example-values.ts';

type Bodies = Readonly<Record<string, object>>;

const ASSERTION = {
  id: 'aWQ',
  rawId: 'aWQ',
  response: { clientDataJSON: 'e30', authenticatorData: 'e30', signature: 'e30' },
};
const CREATED = 1_790_847_000;
const MESSAGE = { role: 'assistant', content: 'In the east.' };
const CHOICES = [{ index: 0, message: MESSAGE, finish_reason: 'stop' }];
const USAGE = { prompt_tokens: 14, completion_tokens: 5, total_tokens: 19 };
const COMPLETION = { id: 'chatcmpl-7Yp2', created: CREATED, choices: CHOICES, usage: USAGE };
const SIGN_IN_FORM = { email: 'ada@apps.example', password: 'a long passphrase' };
const SIGN_UP_FORM = { ...SIGN_IN_FORM, account_type: 'personal' };

/** Fields of request examples beside the required ones, by operation. */
export const requestExamples: Bodies = {
  switchOrganization: { organization_id: 'usr_01jd5m8q2v3w4x5y6z7a8b9c0d' },
  addPasskey: {
    name: 'Laptop',
    id: 'aWQ',
    rawId: 'aWQ',
    response: { clientDataJSON: 'e30', attestationObject: 'e30' },
  },
  addTotp: { name: 'Phone' },
  confirmMailedIdentityLink: { token: '7Yp2…' },
  createAccount: { account_type: 'business', business_name: 'Ada Apps' },
  createCompletion: { model: 'svc-completion' },
  createEmbeddings: { model: 'svc-embedding' },
  createKey: { models: ['svc-chat'], monthly_limit_micros: 20_000_000 },
  createResponse: { store: false },
  deleteAccount: { password: 'a long passphrase' },
  finishIdentityLink: { challenge: 'q8sV2Jt1mZ0xN4bY', code: '123456' },
  finishSignIn: { code: '123456' },
  finishSignInToConsole: { challenge: 'q8sV2Jt1mZ0xN4bY', code: '123456' },
  issueToken: { refresh_token: 'svc_rt_9Qw2…' },
  linkIdentity: { password: 'a long passphrase' },
  linkSso: { return_to: '/account' },
  mailIdentityLink: { email: 'ada@apps.example' },
  reauthenticate: { password: 'a long passphrase' },
  receiveStripeEvent: { id: 'evt_1Q2w3E', type: 'checkout.session.completed', data: { object: { id: 'cs_1Q2w3E' } } },
  registerApp: { homepage_url: 'https://apps.example/', privacy_policy_url: 'https://apps.example/privacy' },
  rotateAppSecret: { overlap_seconds: 86_400 },
  rotateKey: { overlap_seconds: 86_400 },
  rotateWebhookSecret: { overlap_seconds: 86_400 },
  signInToConsole: SIGN_IN_FORM,
  signInToConsoleWithPasskey: { assertion: '{"id":"aWQ","rawId":"aWQ",…}' },
  signInWithPasskey: ASSERTION,
  signUpToConsole: SIGN_UP_FORM,
  submitDecision: { decision: 'allow' },
  submitPasskey: { assertion: '{"id":"aWQ","rawId":"aWQ",…}' },
  submitSecondFactor: { challenge: 'q8sV2Jt1mZ0xN4bY', code: '123456' },
  submitSignIn: SIGN_IN_FORM,
  submitSignOut: { interaction: '7Yp2…' },
  submitSignUp: SIGN_UP_FORM,
  updateAccount: { display_name: 'Ada' },
  updateConnection: { budget: { limit_micros: 2_000_000, period: 'week' } },
  updateKey: { monthly_limit_micros: 20_000_000 },
  updateSandboxSubscription: { card: 'declines' },
};

/** Fields of response examples that a schema leaves open, by operation. */
export const responseExamples: Bodies = {
  createChatCompletion: { ...COMPLETION, object: 'chat.completion', model: 'mistral-large-2512' },
  createCompletion: {
    ...COMPLETION,
    id: 'cmpl-7Yp2',
    object: 'text_completion',
    model: 'mistral-small-2506',
    choices: [{ index: 0, text: ' in the east.', finish_reason: 'stop' }],
  },
  createDelegatedChatCompletion: COMPLETION,
  createDelegatedTranscription: { text: 'Good morning, and welcome.' },
  createEmbeddings: {
    object: 'list',
    model: 'mistral-embed-2312',
    data: [{ object: 'embedding', index: 0, embedding: [0.0123, -0.0456] }],
    usage: { prompt_tokens: 6, total_tokens: 6 },
  },
  createPasskeyOptions: {
    rp: { id: 'svc.example', name: 'svc' },
    user: { id: 'dXNy', name: 'ada@apps.example', displayName: 'Ada' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  },
  createResponse: {
    id: 'resp_7Yp2',
    created_at: CREATED,
    model: 'mistral-large-2512',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'In the east.', annotations: [] }] },
    ],
    usage: { input_tokens: 14, output_tokens: 5, total_tokens: 19 },
  },
  exportAccount: {
    auth: { accounts: [{ email: 'ada@apps.example', created_at: EXAMPLE_TIME }] },
    billing: { subscriptions: [{ id: exampleId('sub'), plan_id: 'starter' }] },
    inference_gateway: { api_keys: [{ id: exampleId('key'), name: 'Notes' }] },
  },
  getOpenapiDocument: { openapi: '3.1.0', info: { title: 'svc', version: '2026-10-01' } },
};

const chunk = (delta: object, finish: string | null): object => ({
  id: 'chatcmpl-7Yp2',
  object: 'chat.completion.chunk',
  created: CREATED,
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const dataLines = (items: readonly object[]): string =>
  items.map((item) => `data: ${JSON.stringify(item)}\n\n`).join('');

const CHAT_STREAM = `${dataLines([chunk(MESSAGE, null), chunk({}, 'stop')])}data: [DONE]\n\n`;

/** Responses that are not JSON, by operation or content type. */
export const textExamples: Readonly<Record<string, string>> = {
  'application/pdf': '%PDF-1.7…',
  'image/*': '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">…</svg>',
  'text/csv': `request_id,key_id,cost_micros\n${exampleId('req')},${exampleId('key')},1250\n`,
  'text/html': '<!doctype html>…',
  'text/plain': 'Contact: mailto:security@svc.example\nExpires: 2026-12-30T09:30:00.000Z\n',
  createChatCompletion: CHAT_STREAM,
  createCompletion: `${dataLines([
    {
      id: 'cmpl-7Yp2',
      object: 'text_completion',
      choices: [{ index: 0, text: ' in the east.', finish_reason: 'stop' }],
    },
  ])}data: [DONE]\n\n`,
  createDelegatedChatCompletion: CHAT_STREAM,
  createResponse: `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"In the east."}\n\n`,
};
