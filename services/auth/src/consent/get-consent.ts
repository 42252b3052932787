import type { ConsentPlan, consentDetailsSchema } from '@svc/contracts';
import { AppError, type Clock } from '@svc/service-kit';
import type { z } from 'zod';
import { findAccountById, publisherName } from '../accounts/index.ts';
import { type AppRecord, type FindAskingApp, iconUrl, isOwned } from '../apps/index.ts';
import type { BillingClient, PaidPlan } from '../billing-client.ts';
import { isConnected } from '../connections/index.ts';
import { findVerifiedDomain } from '../publishers/index.ts';
import type { Executor } from '../transact.ts';
import { type AuthorizeRequest, checkAuthorizeRequest, scopeText } from './authorize-request.ts';

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

/**
 * Returns the share of a week's plan that people typically spend on an app, as a whole percentage; null if unknown.
 * Never rejects.
 */
export type FindTypicalUse = (clientId: string) => Promise<number | null>;

/** A median over weeks changes little within an hour. */
const CACHE_MS = 3_600_000;
/** While billing does not respond, one page per minute waits for it. */
const RETRY_MS = 60_000;
const CACHE_ENTRIES_MAX = 1_000;

interface Entry {
  readonly percent: Promise<number | null>;
  expiresAtMs: number;
}

/** Creates the cached lookup. Concurrent pages share one call. */
export const createTypicalUse = ({
  billing,
  clock,
}: {
  readonly billing: Pick<BillingClient, 'readTypicalUse'>;
  readonly clock: Clock;
}): FindTypicalUse => {
  const entries = new Map<string, Entry>();
  const ask = (clientId: string, nowMs: number): Entry => {
    const percent = billing.readTypicalUse(clientId).catch(() => {
      entry.expiresAtMs = nowMs + RETRY_MS;
      return null;
    });
    const entry: Entry = { percent, expiresAtMs: nowMs + CACHE_MS };
    return entry;
  };
  return (clientId) => {
    const nowMs = clock().getTime();
    const known = entries.get(clientId);
    if (known !== undefined && nowMs < known.expiresAtMs) return known.percent;
    const entry = ask(clientId, nowMs);
    entries.delete(clientId);
    entries.set(clientId, entry);
    const [oldest] = entries.keys();
    if (entries.size > CACHE_ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
    return entry.percent;
  };
};
