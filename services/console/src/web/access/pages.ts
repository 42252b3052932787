import { type OperationName, roleNeedOf } from '../api/index.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';
import { mayAs } from './use-may.ts';

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

/** Returns true for a page about the person, whichever account the person acts for. */
export const isPersonal = (page: PagePath): boolean => roleNeedOf(pageOperations[page]) === 'person';

/** Returns a function that says if a page is about the present account and open to the person's role. */
export const useMayOpen = (): ((page: PagePath) => boolean) => {
  const account = useAccount();
  const isForeign = foreignOrganizationOf(account) !== undefined;
  return (page) => mayAs(account.organization?.role, pageOperations[page]) && !(isForeign && isPersonal(page));
};
