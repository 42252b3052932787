import type { routes } from '@svc/contracts';
import type { z } from 'zod';

type Routes = typeof routes;

/**
 * Routes that the pages call. The compiler compares method and path with the contract; only types of it reach the
 * browser.
 */
export const operations = {
  getSso: { method: 'GET', path: '/v1/console/sso' },
  deleteSession: { method: 'DELETE', path: '/v1/console/session' },
  createReauthenticationOptions: { method: 'POST', path: '/v1/console/session/reauthenticate/options' },
  reauthenticate: { method: 'POST', path: '/v1/console/session/reauthenticate' },
  updateAccount: { method: 'PATCH', path: '/v1/console/account' },
  upgradeAccount: { method: 'POST', path: '/v1/console/account/upgrade' },
  exportAccount: { method: 'GET', path: '/v1/console/account/export' },
  deleteAccount: { method: 'DELETE', path: '/v1/console/account' },
  listSessions: { method: 'GET', path: '/v1/console/sessions' },
  deleteSessionById: { method: 'DELETE', path: '/v1/console/sessions/{session_id}' },
  deleteOtherSessions: { method: 'DELETE', path: '/v1/console/sessions' },
  listFactors: { method: 'GET', path: '/v1/console/account/factors' },
  addTotp: { method: 'POST', path: '/v1/console/account/factors/totp' },
  confirmTotp: { method: 'POST', path: '/v1/console/account/factors/totp/{factor_id}/confirm' },
  createPasskeyOptions: { method: 'POST', path: '/v1/console/account/factors/passkeys/options' },
  addPasskey: { method: 'POST', path: '/v1/console/account/factors/passkeys' },
  deleteFactor: { method: 'DELETE', path: '/v1/console/account/factors/{factor_id}' },
  renewRecoveryCodes: { method: 'POST', path: '/v1/console/account/factors/recovery-codes' },
  changePassword: { method: 'POST', path: '/v1/console/account/password' },
  requestVerification: { method: 'POST', path: '/v1/console/account/verification' },
  confirmVerification: { method: 'POST', path: '/v1/console/account/verification/confirm' },
  confirmEmailChange: { method: 'POST', path: '/v1/console/account/email/confirm' },
  undoEmailChange: { method: 'POST', path: '/v1/console/account/email/undo' },
  cancelDeletion: { method: 'POST', path: '/v1/console/account/deletion/cancel' },
  requestPasswordReset: { method: 'POST', path: '/v1/console/password-resets' },
  confirmPasswordReset: { method: 'POST', path: '/v1/console/password-resets/confirm' },
  changeEmail: { method: 'POST', path: '/v1/console/account/email' },
  resumeSession: { method: 'POST', path: '/v1/console/session/resume' },
  listApps: { method: 'GET', path: '/v1/integrations/apps' },
  registerApp: { method: 'POST', path: '/v1/integrations/apps' },
  updateApp: { method: 'PATCH', path: '/v1/integrations/apps/{client_id}' },
  getAppAnalytics: { method: 'GET', path: '/v1/integrations/apps/{client_id}/analytics' },
  deleteApp: { method: 'DELETE', path: '/v1/integrations/apps/{client_id}' },
  rotateAppSecret: { method: 'POST', path: '/v1/integrations/apps/{client_id}/rotate-secret' },
  listPublisherDomains: { method: 'GET', path: '/v1/console/publisher/domains' },
  addPublisherDomain: { method: 'POST', path: '/v1/console/publisher/domains' },
  checkPublisherDomain: { method: 'POST', path: '/v1/console/publisher/domains/{domain}/check' },
  deletePublisherDomain: { method: 'DELETE', path: '/v1/console/publisher/domains/{domain}' },
  reportApp: { method: 'POST', path: '/v1/integrations/apps/{client_id}/reports' },
  getAppIcon: { method: 'GET', path: '/v1/integrations/apps/{client_id}/icon' },
  putAppIcon: { method: 'PUT', path: '/v1/integrations/apps/{client_id}/icon' },
  listConnections: { method: 'GET', path: '/v1/integrations/connections' },
  listEndedConnections: { method: 'GET', path: '/v1/integrations/ended-connections' },
  updateConnection: { method: 'PATCH', path: '/v1/integrations/connections/{client_id}' },
  deleteConnection: { method: 'DELETE', path: '/v1/integrations/connections/{client_id}' },
  listGrants: { method: 'GET', path: '/v1/integrations/connections/{client_id}/grants' },
  deleteGrant: { method: 'DELETE', path: '/v1/integrations/connections/{client_id}/grants/{grant_id}' },
  listConnectionAudit: { method: 'GET', path: '/v1/integrations/connections/{client_id}/audit' },
  getSubscription: { method: 'GET', path: '/v1/subscriptions' },
  createCheckout: { method: 'POST', path: '/v1/subscriptions/checkout' },
  confirmCheckout: { method: 'POST', path: '/v1/subscriptions/checkout/confirm' },
  createPortalSession: { method: 'POST', path: '/v1/subscriptions/portal' },
  listPrices: { method: 'GET', path: '/v1/gateway/prices' },
  listPlans: { method: 'GET', path: '/v1/subscriptions/plans' },
  getSubscriptionUsage: { method: 'GET', path: '/v1/subscriptions/usage' },
  getUsageHistory: { method: 'GET', path: '/v1/subscriptions/usage/history' },
  listInvoices: { method: 'GET', path: '/v1/subscriptions/invoices' },
  getExtraUsage: { method: 'GET', path: '/v1/subscriptions/extra-usage' },
  changeExtraUsage: { method: 'PUT', path: '/v1/subscriptions/extra-usage' },
  getAlertSettings: { method: 'GET', path: '/v1/subscriptions/alerts' },
  changeAlertSettings: { method: 'PUT', path: '/v1/subscriptions/alerts' },
  getWallet: { method: 'GET', path: '/v1/gateway/wallet' },
  listWalletTransactions: { method: 'GET', path: '/v1/gateway/wallet/transactions' },
  getAutoTopUp: { method: 'GET', path: '/v1/gateway/wallet/auto-top-up' },
  changeAutoTopUp: { method: 'PUT', path: '/v1/gateway/wallet/auto-top-up' },
  createTopUp: { method: 'POST', path: '/v1/gateway/wallet/top-ups' },
  createKey: { method: 'POST', path: '/v1/gateway/keys' },
  listKeys: { method: 'GET', path: '/v1/gateway/keys' },
  updateKey: { method: 'PATCH', path: '/v1/gateway/keys/{key_id}' },
  rotateKey: { method: 'POST', path: '/v1/gateway/keys/{key_id}/rotate' },
  deleteKey: { method: 'DELETE', path: '/v1/gateway/keys/{key_id}' },
  createManagementKey: { method: 'POST', path: '/v1/console/management-keys' },
  listManagementKeys: { method: 'GET', path: '/v1/console/management-keys' },
  deleteManagementKey: { method: 'DELETE', path: '/v1/console/management-keys/{management_key_id}' },
  listGatewayUsage: { method: 'GET', path: '/v1/gateway/usage' },
  getGatewayReceipt: { method: 'GET', path: '/v1/gateway/usage/{request_id}/receipt' },
  getReceiptJwks: { method: 'GET', path: '/v1/receipts/jwks' },
  getAuthorizationServerMetadata: { method: 'GET', path: '/.well-known/oauth-authorization-server' },
  summarizeGatewayUsage: { method: 'GET', path: '/v1/gateway/usage/summary' },
  configureWebhook: { method: 'PUT', path: '/v1/integrations/apps/{client_id}/webhook' },
  getWebhookConfiguration: { method: 'GET', path: '/v1/integrations/apps/{client_id}/webhook' },
  rotateWebhookSecret: { method: 'POST', path: '/v1/integrations/apps/{client_id}/webhook/rotate-secret' },
  testWebhook: { method: 'POST', path: '/v1/integrations/apps/{client_id}/webhook/test' },
  listWebhookEvents: { method: 'GET', path: '/v1/integrations/apps/{client_id}/webhook/events' },
  getWebhookEvent: { method: 'GET', path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}' },
  deliverWebhookEventNow: {
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}/deliver-now',
  },
  recoverWebhookEvent: {
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}/recover',
  },
  configureAccountWebhook: { method: 'PUT', path: '/v1/console/account/webhook' },
  getAccountWebhook: { method: 'GET', path: '/v1/console/account/webhook' },
  deleteAccountWebhook: { method: 'DELETE', path: '/v1/console/account/webhook' },
  rotateAccountWebhookSecret: { method: 'POST', path: '/v1/console/account/webhook/rotate-secret' },
  testAccountWebhook: { method: 'POST', path: '/v1/console/account/webhook/test' },
  listAccountEvents: { method: 'GET', path: '/v1/console/account/webhook/events' },
  getAccountEvent: { method: 'GET', path: '/v1/console/account/webhook/events/{event_id}' },
  deliverAccountEventNow: { method: 'POST', path: '/v1/console/account/webhook/events/{event_id}/deliver-now' },
  recoverAccountEvent: { method: 'POST', path: '/v1/console/account/webhook/events/{event_id}/recover' },
} as const satisfies { [K in keyof Routes]?: Pick<Routes[K], 'method' | 'path'> };

/** Name of a route that the pages call. */
export type OperationName = keyof typeof operations;

type RequestOf<K extends OperationName> = Routes[K]['request'];

type ParamsOf<R> = R extends { params: infer P extends z.ZodType } ? { params: z.input<P> } : unknown;
type QueryOf<R> = R extends { query: infer Q extends z.ZodType } ? { query?: z.input<Q> } : unknown;
type BodyOf<R> = R extends { body: { raw: true } }
  ? { file: Blob }
  : R extends { body: { schema: infer S extends z.ZodType; required: true } }
    ? { body: z.input<S> }
    : R extends { body: { schema: infer S extends z.ZodType } }
      ? { body?: z.input<S> }
      : unknown;

/** Parameters, query and body of a route, by the contract. */
export type Input<K extends OperationName> = ParamsOf<RequestOf<K>> & QueryOf<RequestOf<K>> & BodyOf<RequestOf<K>>;

type AnswerOf<A> = {
  [S in keyof A]: A[S] extends { schema: infer Z extends z.ZodType } ? z.output<Z> : undefined;
}[keyof A];

/** Response body of a route, by the contract; undefined if it has none. */
export type Answer<K extends OperationName> = AnswerOf<Routes[K]['responses']>;

/** One element of a list response. */
export type ItemOf<K extends OperationName> = Answer<K> extends { data: (infer T)[] } ? T : never;
