import type { IncomingMessage } from 'node:http';
import { type PortalNotice, routes } from '@svc/contracts';
import { AppError, type Binding, bind, type Reply } from '@svc/service-kit';
import type { PlanOffer } from '../../plans/index.ts';
import { advanceSubscription, clockOf, type SandboxView, updateSettings } from './advance-subscription.ts';
import type { SandboxDeps } from './announce-changes.ts';
import { playStatus } from './change-subscription.ts';
import { checkoutPage } from './checkout-page.ts';
import { missingPage } from './page.ts';
import { type Locale, type PageLanguage, pageLanguage } from './page-text.ts';
import { paySession } from './pay-session.ts';
import { portalPage } from './portal-page.ts';
import { findPortal, findPortalSubscription, findSession, findSubscription, readNow } from './queries.ts';
import type { SandboxSession } from './sandbox-records.ts';
import { submitCheckout } from './submit-checkout.ts';
import { submitPortal } from './submit-portal.ts';

/** What the sandbox's pages and controls need. */
export interface SandboxRouteDeps extends SandboxDeps {
  readonly offer: PlanOffer;
  /** The sandbox's id of one of billing's subscriptions. */
  readonly findProviderId: (subscriptionId: string) => Promise<string | undefined>;
}

/** Pages and controls of the sandbox payment provider. */
export const sandboxRoutes = (deps: SandboxRouteDeps): Binding[] => [
  ...checkoutRoutes(deps),
  ...portalRoutes(deps),
  ...controlRoutes(deps),
];

const checkoutRoutes = (deps: SandboxRouteDeps): Binding[] => [
  bind(routes.showSandboxCheckout, async ({ params, query, req }) => {
    const session = await findSession(deps.database, params.session_id);
    if (session === undefined) return missing(req, query.locale);
    return checkoutPage({
      session,
      plan: session.planId === null ? undefined : deps.offer.find(session.planId),
      isReverted: await isReverted(deps, session),
      language: languageOf(req, query.locale),
    });
  }),
  bind(routes.submitSandboxCheckout, async ({ params, body: { action, card, locale }, req }) => {
    const id = params.session_id;
    const page = pageUrl(`/sandbox/payments/sessions/${encodeURIComponent(id)}`, locale);
    const session = await findSession(deps.database, id);
    if (session === undefined) return formOfNothing(req, page);
    if (action === 'cancel') return seeOther(session.cancelUrl);
    const isPaid = await submitCheckout(deps, session, { action, card });
    const isOurs = isPaid && !(await isReverted(deps, (await findSession(deps.database, id)) ?? session));
    return seeOther(isOurs ? session.successUrl : page);
  }),
  bind(routes.completeSandboxCheckout, async ({ params }) => {
    const { id } = await paySession(deps, params.session_id);
    return { status: 200, body: { session_id: id, status: 'complete' } };
  }),
];

const controlRoutes = (deps: SandboxRouteDeps): Binding[] => {
  const withProviderId = async <T>(id: string, work: (providerId: string) => Promise<T>): Promise<T> => {
    const providerId = await deps.findProviderId(id);
    if (providerId === undefined) throw new AppError('not_found');
    return work(providerId);
  };
  const answer = async (id: string, work: (providerId: string) => Promise<SandboxView>) => ({
    status: 200 as const,
    body: { id, ...(await withProviderId(id, work)) },
  });
  return [
    bind(routes.playSandboxSubscription, async ({ params: { subscription_id: id }, body }) => {
      const status = await withProviderId(id, (providerId) => playStatus(deps, providerId, body.status));
      return { status: 200, body: { id, status } };
    }),
    bind(routes.updateSandboxSubscription, ({ params, body }) =>
      answer(params.subscription_id, (providerId) => updateSettings(deps, providerId, body)),
    ),
    bind(routes.advanceSandboxSubscription, ({ params, body }) =>
      answer(params.subscription_id, (providerId) => advanceSubscription(deps, providerId, body.seconds)),
    ),
  ];
};

const portalRoutes = (deps: SandboxRouteDeps): Binding[] => [
  bind(routes.showSandboxPortal, async ({ params, query, req }) => {
    const portal = await findPortal(deps.database, params.session_id);
    if (portal === undefined) return missing(req, query.locale);
    const subscription = await findPortalSubscription(deps.database, portal.customer);
    const now = await readNow(deps.database);
    return portalPage({
      ...{ portal, subscription, offer: deps.offer, notice: query.notice },
      clock: subscription === undefined ? now : clockOf(subscription, now),
      language: languageOf(req, query.locale),
    });
  }),
  bind(routes.submitSandboxPortal, async ({ params, body: { action, plan_id: planId, card, locale }, req }) => {
    const path = `/sandbox/payments/portal/${encodeURIComponent(params.session_id)}`;
    const portal = await findPortal(deps.database, params.session_id);
    if (portal === undefined) return formOfNothing(req, pageUrl(path, locale));
    if (action === 'return') return seeOther(portal.returnUrl);
    const notice = await submitPortal(deps, portal, { action, planId, card });
    return seeOther(pageUrl(path, locale, notice));
  }),
];

const isReverted = async ({ database }: SandboxRouteDeps, { subscriptionId }: SandboxSession): Promise<boolean> =>
  subscriptionId !== null && (await findSubscription(database, subscriptionId))?.wasReverted === true;

/** Sends the browser on. A header is ASCII: an address that is not is encoded, every other one stays as it is. */
const seeOther = (url: string): Reply => {
  const location = /^[\x21-\x7e]*$/.test(url) ? url : new URL(url).href;
  return { status: 303, headers: { location } };
};

const pageUrl = (path: string, locale: Locale | undefined, notice?: PortalNotice): string => {
  const query = new URLSearchParams({
    ...(locale === undefined ? {} : { locale }),
    ...(notice === undefined ? {} : { notice }),
  });
  return query.size === 0 ? path : `${path}?${query}`;
};

const languageOf = (req: IncomingMessage, locale: Locale | undefined): PageLanguage =>
  pageLanguage(locale, req.headers['accept-language']);

/** Of what was never there, or is over: a page for browsers, the code for programs. */
const missing = (req: IncomingMessage, locale: Locale | undefined): Reply => {
  if (!isBrowser(req)) throw new AppError('not_found');
  return missingPage(languageOf(req, locale));
};

/** A form whose page is over leads to that page, which says so. */
const formOfNothing = (req: IncomingMessage, page: string): Reply => {
  if (!isBrowser(req)) throw new AppError('not_found');
  return seeOther(page);
};

const isBrowser = ({ headers }: IncomingMessage): boolean => /\btext\/html\b/i.test(headers.accept ?? '');
