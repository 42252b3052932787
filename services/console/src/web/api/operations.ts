import type { RoleNeed, routes } from '@svc/contracts';
import type { z } from 'zod';

type Routes = typeof routes;

/**
 * Routes that the pages call. The compiler compares method, path and role with the contract; only types of it reach the
 * browser.
 */
export const operations = {
  getSso: { method: 'GET', path: '/v1/console/sso' },
  deleteSession: { method: 'DELETE', path: '/v1/console/session', role: 'person' },
  createReauthenticationOptions: { method: 'POST', path: '/v1/console/session/reauthenticate/options', role: 'person' },
  reauthenticate: { method: 'POST', path: '/v1/console/session/reauthenticate', role: 'person' },
  updateAccount: { method: 'PATCH', path: '/v1/console/account', role: 'person' },
  upgradeAccount: { method: 'POST', path: '/v1/console/account/upgrade', role: 'person' },
  exportAccount: { method: 'GET', path: '/v1/console/account/export', role: 'owner' },
  deleteAccount: { method: 'DELETE', path: '/v1/console/account', role: 'owner' },
  listSessions: { method: 'GET', path: '/v1/console/sessions', role: 'person' },
  deleteSessionById: { method: 'DELETE', path: '/v1/console/sessions/{session_id}', role: 'person' },
  deleteOtherSessions: { method: 'DELETE', path: '/v1/console/sessions', role: 'person' },
  listFactors: { method: 'GET', path: '/v1/console/account/factors', role: 'person' },
  addTotp: { method: 'POST', path: '/v1/console/account/factors/totp', role: 'person' },
  confirmTotp: { method: 'POST', path: '/v1/console/account/factors/totp/{factor_id}/confirm', role: 'person' },
  createPasskeyOptions: { method: 'POST', path: '/v1/console/account/factors/passkeys/options', role: 'person' },
  addPasskey: { method: 'POST', path: '/v1/console/account/factors/passkeys', role: 'person' },
  deleteFactor: { method: 'DELETE', path: '/v1/console/account/factors/{factor_id}', role: 'person' },
  renewRecoveryCodes: { method: 'POST', path: '/v1/console/account/factors/recovery-codes', role: 'person' },
  changePassword: { method: 'POST', path: '/v1/console/account/password', role: 'person' },
  requestVerification: { method: 'POST', path: '/v1/console/account/verification', role: 'person' },
  confirmVerification: { method: 'POST', path: '/v1/console/account/verification/confirm' },
  confirmEmailChange: { method: 'POST', path: '/v1/console/account/email/confirm' },
  undoEmailChange: { method: 'POST', path: '/v1/console/account/email/undo' },
  cancelDeletion: { method: 'POST', path: '/v1/console/account/deletion/cancel' },
  requestPasswordReset: { method: 'POST', path: '/v1/console/password-resets' },
  confirmPasswordReset: { method: 'POST', path: '/v1/console/password-resets/confirm' },
  changeEmail: { method: 'POST', path: '/v1/console/account/email', role: 'person' },
  resumeSession: { method: 'POST', path: '/v1/console/session/resume' },
  listApps: { method: 'GET', path: '/v1/integrations/apps', role: 'viewer' },
  registerApp: { method: 'POST', path: '/v1/integrations/apps', role: 'developer' },
  updateApp: { method: 'PATCH', path: '/v1/integrations/apps/{client_id}', role: 'developer' },
  getAppAnalytics: { method: 'GET', path: '/v1/integrations/apps/{client_id}/analytics', role: 'viewer' },
  deleteApp: { method: 'DELETE', path: '/v1/integrations/apps/{client_id}', role: 'developer' },
  rotateAppSecret: { method: 'POST', path: '/v1/integrations/apps/{client_id}/rotate-secret', role: 'developer' },
  listPublisherDomains: { method: 'GET', path: '/v1/console/publisher/domains', role: 'viewer' },
  addPublisherDomain: { method: 'POST', path: '/v1/console/publisher/domains', role: 'developer' },
  checkPublisherDomain: { method: 'POST', path: '/v1/console/publisher/domains/{domain}/check', role: 'developer' },
  deletePublisherDomain: { method: 'DELETE', path: '/v1/console/publisher/domains/{domain}', role: 'developer' },
  reportApp: { method: 'POST', path: '/v1/integrations/apps/{client_id}/reports', role: 'person' },
  getAppIcon: { method: 'GET', path: '/v1/integrations/apps/{client_id}/icon', role: 'person' },
  putAppIcon: { method: 'PUT', path: '/v1/integrations/apps/{client_id}/icon', role: 'developer' },
  listConnections: { method: 'GET', path: '/v1/integrations/connections', role: 'person' },
  listEndedConnections: { method: 'GET', path: '/v1/integrations/ended-connections', role: 'person' },
  updateConnection: { method: 'PATCH', path: '/v1/integrations/connections/{client_id}', role: 'person' },
  deleteConnection: { method: 'DELETE', path: '/v1/integrations/connections/{client_id}', role: 'person' },
  listGrants: { method: 'GET', path: '/v1/integrations/connections/{client_id}/grants', role: 'person' },
  deleteGrant: { method: 'DELETE', path: '/v1/integrations/connections/{client_id}/grants/{grant_id}', role: 'person' },
  listConnectionAudit: { method: 'GET', path: '/v1/integrations/connections/{client_id}/audit', role: 'person' },
  getSubscription: { method: 'GET', path: '/v1/subscriptions', role: 'viewer' },
  createCheckout: { method: 'POST', path: '/v1/subscriptions/checkout', role: 'billing' },
  confirmCheckout: { method: 'POST', path: '/v1/subscriptions/checkout/confirm', role: 'billing' },
  createPortalSession: { method: 'POST', path: '/v1/subscriptions/portal', role: 'billing' },
  listPrices: { method: 'GET', path: '/v1/gateway/prices' },
  listPlans: { method: 'GET', path: '/v1/subscriptions/plans' },
  getSubscriptionUsage: { method: 'GET', path: '/v1/subscriptions/usage', role: 'viewer' },
  getUsageHistory: { method: 'GET', path: '/v1/subscriptions/usage/history', role: 'viewer' },
  listInvoices: { method: 'GET', path: '/v1/subscriptions/invoices', role: 'billing' },
  getExtraUsage: { method: 'GET', path: '/v1/subscriptions/extra-usage', role: 'billing' },
  changeExtraUsage: { method: 'PUT', path: '/v1/subscriptions/extra-usage', role: 'billing' },
  getAlertSettings: { method: 'GET', path: '/v1/subscriptions/alerts', role: 'billing' },
  changeAlertSettings: { method: 'PUT', path: '/v1/subscriptions/alerts', role: 'billing' },
  getWallet: { method: 'GET', path: '/v1/gateway/wallet', role: 'viewer' },
  listWalletTransactions: { method: 'GET', path: '/v1/gateway/wallet/transactions', role: 'viewer' },
  getAutoTopUp: { method: 'GET', path: '/v1/gateway/wallet/auto-top-up', role: 'billing' },
  changeAutoTopUp: { method: 'PUT', path: '/v1/gateway/wallet/auto-top-up', role: 'billing' },
  createTopUp: { method: 'POST', path: '/v1/gateway/wallet/top-ups', role: 'billing' },
  createKey: { method: 'POST', path: '/v1/gateway/keys', role: 'developer' },
  listKeys: { method: 'GET', path: '/v1/gateway/keys', role: 'billing or developer' },
  updateKey: { method: 'PATCH', path: '/v1/gateway/keys/{key_id}', role: 'developer' },
  rotateKey: { method: 'POST', path: '/v1/gateway/keys/{key_id}/rotate', role: 'developer' },
  deleteKey: { method: 'DELETE', path: '/v1/gateway/keys/{key_id}', role: 'developer' },
  createManagementKey: { method: 'POST', path: '/v1/console/management-keys', role: 'admin' },
  listManagementKeys: { method: 'GET', path: '/v1/console/management-keys', role: 'admin' },
  deleteManagementKey: { method: 'DELETE', path: '/v1/console/management-keys/{management_key_id}', role: 'admin' },
  listGatewayUsage: { method: 'GET', path: '/v1/gateway/usage', role: 'viewer' },
  getGatewayReceipt: { method: 'GET', path: '/v1/gateway/usage/{request_id}/receipt', role: 'viewer' },
  getReceiptJwks: { method: 'GET', path: '/v1/receipts/jwks' },
  getAuthorizationServerMetadata: { method: 'GET', path: '/.well-known/oauth-authorization-server' },
  summarizeGatewayUsage: { method: 'GET', path: '/v1/gateway/usage/summary', role: 'viewer' },
  configureWebhook: { method: 'PUT', path: '/v1/integrations/apps/{client_id}/webhook', role: 'developer' },
  getWebhookConfiguration: { method: 'GET', path: '/v1/integrations/apps/{client_id}/webhook', role: 'viewer' },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/rotate-secret',
    role: 'developer',
  },
  testWebhook: { method: 'POST', path: '/v1/integrations/apps/{client_id}/webhook/test', role: 'developer' },
  listWebhookEvents: { method: 'GET', path: '/v1/integrations/apps/{client_id}/webhook/events', role: 'viewer' },
  getWebhookEvent: {
    method: 'GET',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}',
    role: 'viewer',
  },
  deliverWebhookEventNow: {
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}/deliver-now',
    role: 'developer',
  },
  recoverWebhookEvent: {
    method: 'POST',
    path: '/v1/integrations/apps/{client_id}/webhook/events/{event_id}/recover',
    role: 'developer',
  },
  configureAccountWebhook: { method: 'PUT', path: '/v1/console/account/webhook', role: 'admin' },
  getAccountWebhook: { method: 'GET', path: '/v1/console/account/webhook', role: 'admin' },
  deleteAccountWebhook: { method: 'DELETE', path: '/v1/console/account/webhook', role: 'admin' },
  rotateAccountWebhookSecret: { method: 'POST', path: '/v1/console/account/webhook/rotate-secret', role: 'admin' },
  testAccountWebhook: { method: 'POST', path: '/v1/console/account/webhook/test', role: 'admin' },
  listAccountEvents: { method: 'GET', path: '/v1/console/account/webhook/events', role: 'admin' },
  getAccountEvent: { method: 'GET', path: '/v1/console/account/webhook/events/{event_id}', role: 'admin' },
  deliverAccountEventNow: {
    method: 'POST',
    path: '/v1/console/account/webhook/events/{event_id}/deliver-now',
    role: 'admin',
  },
  recoverAccountEvent: { method: 'POST', path: '/v1/console/account/webhook/events/{event_id}/recover', role: 'admin' },
  listOrganizations: { method: 'GET', path: '/v1/console/organizations', role: 'person' },
  switchOrganization: { method: 'POST', path: '/v1/console/session/organization', role: 'person' },
  acceptInvitation: { method: 'POST', path: '/v1/console/organization/invitations/accept', role: 'person' },
  listMembers: { method: 'GET', path: '/v1/console/organization/members', role: 'viewer' },
  updateMember: { method: 'PATCH', path: '/v1/console/organization/members/{svc_user_id}', role: 'admin' },
  removeMember: { method: 'DELETE', path: '/v1/console/organization/members/{svc_user_id}', role: 'viewer' },
  createInvitation: { method: 'POST', path: '/v1/console/organization/invitations', role: 'admin' },
  listInvitations: { method: 'GET', path: '/v1/console/organization/invitations', role: 'admin' },
  withdrawInvitation: { method: 'DELETE', path: '/v1/console/organization/invitations/{invitation_id}', role: 'admin' },
  getOrganizationSettings: { method: 'GET', path: '/v1/console/organization/settings', role: 'admin' },
  changeOrganizationSettings: { method: 'PUT', path: '/v1/console/organization/settings', role: 'admin' },
  listAuditLog: { method: 'GET', path: '/v1/console/organization/audit', role: 'admin' },
  listSeats: { method: 'GET', path: '/v1/console/organization/seats', role: 'billing' },
  changeSeats: { method: 'PUT', path: '/v1/console/organization/seats', role: 'billing' },
  assignSeat: { method: 'PUT', path: '/v1/console/organization/members/{svc_user_id}/seat', role: 'billing' },
  getMemberLimit: { method: 'GET', path: '/v1/console/organization/members/{svc_user_id}/limit', role: 'admin' },
  changeMemberLimit: { method: 'PUT', path: '/v1/console/organization/members/{svc_user_id}/limit', role: 'admin' },
  summarizeMemberUsage: { method: 'GET', path: '/v1/console/organization/usage', role: 'viewer' },
} as const satisfies { [K in keyof Routes]?: Pick<Routes[K], 'method' | 'path'> & RoleOf<Routes[K]> };

/** The role that a route needs, where it accepts a console session. */
type RoleOf<R> = R extends { role: infer N } ? { role: N } : { role?: undefined };

/** Name of a route that the pages call. */
export type OperationName = keyof typeof operations;

/** Returns the role that an operation needs; undefined where it takes no console session. */
export const roleNeedOf = (operation: OperationName): RoleNeed | undefined => {
  const route = operations[operation];
  return 'role' in route ? route.role : undefined;
};

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
