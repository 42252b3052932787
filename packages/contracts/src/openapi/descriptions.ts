import type { WebhookEvent } from '../webhook-dispatcher/index.ts';

/** Descriptions of parameters by name. A query or header parameter whose schema has a description keeps that one. */
export const parameterDescriptions: Readonly<Record<string, string>> = {
  after: 'Id of the last record of the previous page.',
  after_sequence: 'Only events behind this sequence.',
  before_sequence: 'Only events before this sequence.',
  client_id: 'Id of the app.',
  code_challenge: 'SHA-256 of the code verifier, in base64url (RFC 7636 section 4.2).',
  code_challenge_method: 'Only `S256` (RFC 7636 section 4.3).',
  domain: 'Domain of the business.',
  dpop_jkt: 'Thumbprint of the key that the tokens will be bound to (RFC 9449 section 10).',
  event: 'Only events of this kind.',
  event_id: 'Id of the event.',
  factor_id: 'Id of the second factor.',
  group_by: 'Key of the groups. A day is in UTC.',
  'idempotency-key':
    'A repeated request with the same key is not served again: it is answered 409 `duplicate_request`.',
  invoice_id: 'Id of the invoice.',
  key_id: 'Id of the API key.',
  limit: 'Records in one page.',
  locale: 'Language of the page.',
  model: 'Id of the model, as the list of models names it.',
  notice: 'Message that the page shows, after a form was submitted.',
  reason: 'Reason why the console led here. The page states it.',
  redirect_uri: 'One of the app’s redirect URIs, character for character.',
  request_id: 'Id of the request, from `X-Request-Id` of its answer.',
  response_type: 'Only `code` (RFC 6749 section 4.1.1).',
  return_to: 'Path of the page to open after the sign-in.',
  scope: 'Scopes separated by spaces. Unknown ones are ignored beside known ones.',
  session_id: 'Id of the session.',
  state: 'Random text of the app. It comes back with the answer (RFC 6749 section 10.12).',
  status: 'Only events in this state.',
  subscription_id: 'Id of the subscription.',
  'x-svc-compliance':
    'With `headers`, compliance metadata stands in headers alone, and the body stays as the provider sent it.',
  'x-svc-device': 'Last `device_token` of this device. A known device has its own count of failed sign-ins.',
};

/** Descriptions of groups of operations. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  Accounts: 'Signing up and in, sessions, second factors, and the account itself.',
  OAuth: 'How an app gets tokens of a user: OAuth 2.0 with PKCE, and the pages that ask for consent.',
  Apps: 'Registered apps of a business account.',
  Connections: 'Apps that a user has connected, with their budgets.',
  Documents: 'This description, and the pages that work without scripts.',
  Subscriptions: 'Plans, purchases, invoices and alerts.',
  Usage: 'Use and limits, of a user’s plan and of one app, and signed receipts.',
  Wallet: 'The prepaid balance of the API-key gateway.',
  Payments: 'What the payment provider sends.',
  'Sandbox payments': 'A simulated payment provider, for development. Absent where a real one is configured.',
  'Delegated inference': 'Chat and transcription for a connected user, on that user’s plan.',
  'API-key gateway': 'The common wire format, paid from a wallet, with compliance metadata.',
  'API keys': 'Keys of the API-key gateway, their limits and their use.',
  Webhooks: 'Destinations, events and their delivery, and the requests that a receiver gets.',
};

/** Descriptions of the requests that a receiver gets. */
export const webhookDescriptions: Readonly<Record<WebhookEvent['event'], string>> = {
  'integration.connected': 'A user has consented.',
  'integration.revoked': 'A connection has ended: its tokens no longer work.',
  'subscription.updated': 'A snapshot of a connected user’s subscription, after connecting and at each change.',
  'subscription.ended': 'The subscription of a connected user has ended.',
  'integration.test': 'The app’s owner asked for a test. `user` is the owner.',
};
