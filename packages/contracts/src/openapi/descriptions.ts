import type { AccountEvent, WebhookEvent } from '../webhook-dispatcher/index.ts';

/** Descriptions of parameters by name. A query or header parameter whose schema has a description keeps that one. */
export const parameterDescriptions: Readonly<Record<string, string>> = {
  after: 'Id of the last record of the previous page.',
  after_sequence: 'Only events behind this sequence.',
  before_sequence: 'Only events before this sequence.',
  client_id: 'Id of the app. In a path, percent-encoded.',
  code_challenge: 'SHA-256 of the code verifier, in base64url (RFC 7636 section 4.2).',
  code_challenge_method: 'Only `S256` (RFC 7636 section 4.3).',
  domain: 'Domain of the business.',
  dpop_jkt: 'Thumbprint of the key that the tokens will be bound to (RFC 9449 section 10).',
  event: 'Only events of this kind.',
  event_id: 'Id of the event.',
  grant_id: 'Id of the grant.',
  factor_id: 'Id of the second factor.',
  group_by: 'Key of the groups. A day is in UTC.',
  'idempotency-key':
    'A repeated request with the same key is not served again: it is answered 409 `duplicate_request`.',
  invoice_id: 'Id of the invoice.',
  key_id: 'Id of the API key.',
  limit: 'Records in one page.',
  locale: 'Language of the page.',
  management_key_id: 'Id of the management key.',
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

/** Descriptions of groups of operations, in reading order: what an app calls, then the gateway, then the console. */
export const tagDescriptions: Readonly<Record<string, string>> = {
  OAuth: 'How an app gets tokens of a user: OAuth 2.0 with PKCE, and the pages that ask for consent.',
  'Delegated inference': 'Chat and transcription for a connected user, on that user’s plan.',
  Usage: 'Use and limits, of a user’s plan and of one app, and signed receipts.',
  Webhooks: 'Destinations, events and their delivery, and the requests that a receiver gets.',
  'Account events': 'Webhook of the account itself: money, keys and the plan, for those who automate.',
  Apps: 'Registered apps of a business account.',
  'API-key gateway': 'The common wire format, paid from a wallet, with compliance metadata.',
  Provenance: 'Keys that verify where an answer comes from.',
  'API keys': 'Keys of the API-key gateway, their limits and their use.',
  'Management keys': 'Keys with which a program does what the console does, within their scopes.',
  Wallet: 'The prepaid balance of the API-key gateway.',
  Subscriptions: 'Plans, purchases, invoices and alerts.',
  Connections: 'Apps that a user has connected, with their budgets.',
  Accounts: 'Signing up, the account itself, its address and password, its export and its deletion.',
  Sessions: 'Signing in and out, with a password, a passkey or single sign-on, and proving again who signs.',
  'Second factors': 'Authenticator apps, passkeys and recovery codes.',
  'Sign-in pages': 'The pages of the console that work without scripts.',
  Payments: 'What the payment provider sends.',
  'Sandbox payments': 'A stand-in for Stripe, for development. Absent where Stripe itself is configured.',
  Documents: 'This description, and the address for reports of vulnerabilities.',
};

/** Descriptions of the requests that a receiver gets. */
export const webhookDescriptions: Readonly<Record<WebhookEvent['event'] | AccountEvent['event'], string>> = {
  'integration.connected': 'A user has consented.',
  'integration.revoked': 'A connection has ended: its tokens no longer work.',
  'subscription.updated': 'A snapshot of a connected user’s subscription, after connecting and at each change.',
  'subscription.ended': 'The subscription of a connected user has ended.',
  'integration.test': 'The app’s owner asked for a test. `user` is the owner.',
  'wallet.low':
    'The wallet has fallen below the amount of the account’s alerts. Comes again only after it was above that amount.',
  'wallet.topped_up': 'Money has reached the wallet.',
  'wallet.top_up_failed': 'An automatic top-up has failed. Automatic top-ups are now off.',
  'api_key.created': 'An API key was created. The key itself is in no event.',
  'api_key.limit_reached': 'A request was refused because of its key’s monthly limit, for the first time in the month.',
  'subscription.changed': 'The account’s own subscription has a new revision. `plan` is null once it has ended.',
  'account.test': 'You asked for a test.',
};
