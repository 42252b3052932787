import type { ConsentPlan, consentDetailsSchema } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { z } from 'zod';
import { findAccountById, publisherName } from '../accounts/index.ts';
import { type AppRecord, iconUrl, isOwned } from '../apps/index.ts';
import type { BillingClient, PaidPlan } from '../billing-client.ts';
import type { FindAskingApp } from '../client-documents/index.ts';
import { isConnected } from '../connections/index.ts';
import { findVerifiedDomain } from '../publishers/index.ts';
import type { Executor } from '../transact.ts';
import { type AuthorizeRequest, checkAuthorizeRequest } from './authorize-request.ts';
import { scopeText } from './scope.ts';

export interface GetConsentDeps {
  readonly database: Executor;
  readonly publicBaseUrl: string;
  readonly findApp: FindAskingApp;
  readonly billing: Pick<BillingClient, 'readPlan'>;
}

/**
 * Returns the data for the decision on a request. Throws as `checkAuthorizeRequest`, and
 * `service_unavailable` if billing does not respond.
 */
export const getConsent = async (
  deps: GetConsentDeps,
  { userId, source, request }: { userId: string; source: string; request: AuthorizeRequest },
): Promise<z.infer<typeof consentDetailsSchema>> => {
  const found = await deps.findApp(request.clientId, source);
  const { app, scopes } = checkAuthorizeRequest(found, request, 'query');
  const account = await findAccountById(deps.database, userId);
  if (account === undefined) throw new AppError('invalid_token');
  const publisher = await findPublisher(deps, app);
  return {
    app: {
      client_id: app.clientId,
      name: app.name,
      icon_url: iconUrl(deps.publicBaseUrl, app.clientId),
      homepage_url: app.homepageUrl,
      privacy_policy_url: app.privacyPolicyUrl,
      publisher: publisher.name,
      publisher_domain: publisher.verifiedDomain,
    },
    scopes: scopes.map((name) => ({ name, ...scopeText(name, account.locale) })),
    already_connected: await isConnected(deps.database, { userId, clientId: app.clientId }),
    account: { email: account.email, display_name: account.displayName },
    plan: showPlan(await deps.billing.readPlan(userId)),
  };
};

const showPlan = (plan: PaidPlan | null): ConsentPlan | null => {
  if (plan === null) return null;
  const { extra: _extra, ...shown } = plan;
  return shown;
};

/** The business behind an app, as people see it. */
export interface Publisher {
  readonly name: string;
  /** Domain that the publisher has proven to own. */
  readonly verifiedDomain: string | null;
  /** False for an app of a client ID metadata document, which its host alone identifies. */
  readonly isRegistered: boolean;
}

export const findPublisher = async (deps: { database: Executor }, app: AppRecord): Promise<Publisher> => {
  if (!isOwned(app)) return { name: new URL(app.clientId).host, verifiedDomain: null, isRegistered: false };
  const [owner, domain] = await Promise.all([
    findAccountById(deps.database, app.ownerUserId),
    findVerifiedDomain(deps.database, app.ownerUserId),
  ]);
  if (owner === undefined) throw new Error('an app has no owner');
  return { name: publisherName(owner), verifiedDomain: domain ?? null, isRegistered: true };
};
