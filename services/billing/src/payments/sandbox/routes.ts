import { routes } from '@svc/contracts';
import { AppError, type Binding, bind, invalidField, type Reply } from '@svc/service-kit';
import type { PlanOffer } from '../../plans/index.ts';
import type { SandboxDeps } from './announce-changes.ts';
import { changeInPortal, type PortalChange, playStatus } from './change-subscription.ts';
import { checkoutPage, portalPage } from './pages.ts';
import { paySession } from './pay-session.ts';
import { findLiveSubscription, findPortal, findSession, findSubscription, updateDeclined } from './queries.ts';
import type { SandboxPortal, SandboxSession } from './sandbox-records.ts';

/** What the sandbox's pages and controls need. */
export interface SandboxRouteDeps extends SandboxDeps {
  readonly offer: PlanOffer;
  /** The sandbox's id of one of billing's subscriptions. */
  readonly findProviderId: (subscriptionId: string) => Promise<string | undefined>;
}

/** Pages and controls of the sandbox payment provider. */
export const sandboxRoutes = (deps: SandboxRouteDeps): Binding[] => [...checkoutRoutes(deps), ...portalRoutes(deps)];

const checkoutRoutes = (deps: SandboxRouteDeps): Binding[] => [
  bind(routes.showSandboxCheckout, async ({ params }) => {
    const session = await requireSession(deps, params.session_id);
    return checkoutPage(session, await isReverted(deps, session));
  }),
  bind(routes.submitSandboxCheckout, async ({ params, body }) => submitCheckout(deps, params.session_id, body.action)),
  bind(routes.completeSandboxCheckout, async ({ params }) => {
    const { id } = await paySession(deps, params.session_id);
    return { status: 200, body: { session_id: id, status: 'complete' } };
  }),
  bind(routes.playSandboxSubscription, async ({ params, body }) => {
    const id = params.subscription_id;
    const providerId = await deps.findProviderId(id);
    if (providerId === undefined) throw new AppError('not_found');
    return { status: 200, body: { id, status: await playStatus(deps, providerId, body.status) } };
  }),
];

const portalRoutes = (deps: SandboxRouteDeps): Binding[] => [
  bind(routes.showSandboxPortal, async ({ params }) => {
    const portal = await requirePortal(deps, params.session_id);
    return portalPage(portal, await findLiveSubscription(deps.database, portal.customer), deps.offer);
  }),
  bind(routes.submitSandboxPortal, async ({ params, body }) => {
    const portal = await requirePortal(deps, params.session_id);
    if (body.action === 'return') return seeOther(portal.returnUrl);
    await changeInPortal(deps, portal.customer, toChange(body.action, body.plan_id));
    return seeOther(`/sandbox/payments/portal/${encodeURIComponent(portal.id)}`);
  }),
];

const submitCheckout = async (
  deps: SandboxRouteDeps,
  id: string,
  action: 'pay' | 'decline' | 'cancel',
): Promise<Reply> => {
  const session = await requireSession(deps, id);
  const page = `/sandbox/payments/sessions/${encodeURIComponent(id)}`;
  switch (action) {
    case 'cancel':
      return seeOther(session.cancelUrl);
    case 'decline':
      await updateDeclined(deps.database, id);
      return seeOther(page);
    case 'pay':
      return (await isPaid(deps, id)) ? seeOther(session.successUrl) : seeOther(page);
  }
};

/** The page itself says why a payment was not taken. */
const isPaid = async (deps: SandboxRouteDeps, id: string): Promise<boolean> => {
  try {
    await paySession(deps, id);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'conflict') return false;
    throw error;
  }
};

const isReverted = async ({ database }: SandboxRouteDeps, { subscriptionId }: SandboxSession): Promise<boolean> =>
  subscriptionId !== null && (await findSubscription(database, subscriptionId))?.wasReverted === true;

const toChange = (action: 'cancel' | 'resume' | 'change_plan', planId: string | undefined): PortalChange => {
  if (action !== 'change_plan') return { action };
  if (planId === undefined) throw invalidField(['form', 'plan_id'], 'missing', 'Field required');
  return { action, planId };
};

const seeOther = (location: string): Reply => ({ status: 303, headers: { location } });

const requireSession = async ({ database }: SandboxRouteDeps, id: string): Promise<SandboxSession> => {
  const session = await findSession(database, id);
  if (session === undefined) throw new AppError('not_found');
  return session;
};

const requirePortal = async ({ database }: SandboxRouteDeps, id: string): Promise<SandboxPortal> => {
  const portal = await findPortal(database, id);
  if (portal === undefined) throw new AppError('not_found');
  return portal;
};
