import type { OperationName } from '../api/index.ts';

/** The operation without which a page shows nothing. Its role decides who sees the page, and links to it. */
export const pageOperations = {
  '/': 'getSubscriptionUsage',
  '/account': 'listSessions',
  '/account/webhook': 'getAccountWebhook',
  '/plans': 'getSubscription',
  '/plans/return': 'confirmCheckout',
  '/connections': 'listConnections',
  '/keys': 'listKeys',
  '/wallet': 'getWallet',
  '/wallet/return': 'confirmCheckout',
  '/usage': 'listGatewayUsage',
  '/usage/alerts': 'getAlertSettings',
  '/verify': 'getReceiptJwks',
  '/apps': 'listApps',
  '/apps/new': 'registerApp',
  '/apps/:clientId': 'listApps',
  '/apps/:clientId/analytics': 'getAppAnalytics',
  '/apps/:clientId/webhook': 'getWebhookConfiguration',
  '/organization/members': 'listMembers',
  '/organization/seats': 'listSeats',
  '/organization/usage': 'summarizeMemberUsage',
  '/organization/audit': 'listAuditLog',
  '/organization/settings': 'getOrganizationSettings',
} as const satisfies Readonly<Record<string, OperationName>>;

/** Address of a page, with names of its parameters. */
export type PagePath = keyof typeof pageOperations;
