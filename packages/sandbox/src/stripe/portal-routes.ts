import { type PortalNotice, type SandboxCard, sandboxRoutes } from '@svc/contracts';
import { type Binding, bind, invalidField } from '@svc/service-kit';
import type { Account } from './account.ts';
import { nowOf } from './advance-subscription.ts';
import type { Catalog } from './catalog.ts';
import {
  changePlan,
  clockOf,
  type HostedSubscription,
  isOverdue,
  type Price,
  paid,
  paysUnattended,
} from './hosted-subscription.ts';
import { findPrice, invoiceSubscription, saveChange } from './invoice-change.ts';
import type { Portal } from './objects.ts';
import { pageUrl, replyToLostForm, replyToMissing, seeOther } from './pages/page.ts';
import { languageOf } from './pages/page-language.ts';
import { portalPage } from './pages/portal-page.ts';
import { findManaged, saveHosted } from './subscriptions.ts';

/** An action in the portal. `pay_confirmed`: pays the overdue amount, after the cardholder has confirmed it. */
type PortalChange =
  | { readonly action: 'cancel' | 'resume' | 'pay' | 'pay_confirmed' }
  | { readonly action: 'change_plan'; readonly planId: string }
  | { readonly action: 'change_card'; readonly card: SandboxCard };

/** Result of an action. `challenged`: the bank asks the cardholder to confirm first. */
type PortalResult = PortalNotice | 'challenged' | undefined;

interface Outcome {
  readonly result: PortalResult;
  readonly changed?: HostedSubscription;
  /** Payment for a change of plan. */
  readonly payment?: Price;
}

/** Changes the subscription of a customer and announces it. Without a subscription it does nothing. */
const changeInPortal = async (account: Account, customer: string, change: PortalChange): Promise<PortalResult> => {
  const subscription = findManaged(account, customer);
  if (subscription === undefined) return undefined;
  const now = clockOf(subscription, nowOf(account));
  const { result, changed, payment } = applyChange(account.catalog, change, { subscription, now });
  if (changed !== undefined && change.action !== 'change_plan') {
    saveChange(account, { before: subscription, after: changed, at: now });
  } else if (changed !== undefined) {
    saveHosted(account, changed);
    if (payment !== undefined && payment.amountMicros > 0) {
      invoiceSubscription(account, changed, { ...payment, start: now, at: now });
    }
  }
  await account.announce();
  return result;
};

interface Present {
  readonly subscription: HostedSubscription;
  readonly now: Date;
}

const applyChange = (offer: Catalog, change: PortalChange, state: Present): Outcome => {
  const { subscription, now } = state;
  switch (change.action) {
    case 'cancel':
      return { result: 'canceled', changed: { ...subscription, cancelAtPeriodEnd: true } };
    case 'resume':
      return { result: 'resumed', changed: { ...subscription, cancelAtPeriodEnd: false } };
    case 'change_card':
      if (change.card === 'declines') return { result: 'declined' };
      return { result: 'card_saved', changed: { ...subscription, card: change.card } };
    case 'change_plan':
      return toPlan(offer, change.planId, state);
    case 'pay':
      if (!isOverdue(subscription)) return { result: undefined };
      if (subscription.card === 'asks_to_confirm') return { result: 'challenged' };
      return paysUnattended(subscription.card)
        ? { result: 'paid', changed: paid(subscription, now) }
        : { result: 'declined' };
    case 'pay_confirmed':
      return isOverdue(subscription) ? { result: 'paid', changed: paid(subscription, now) } : { result: undefined };
  }
};

const toPlan = (offer: Catalog, planId: string, { subscription, now }: Present): Outcome => {
  const plan = offer.find(planId);
  if (plan === undefined) throw invalidField(['form', 'plan_id'], 'value_error', 'Value error, there is no such plan');
  if (plan.id === subscription.planId) return { result: undefined };
  const { changed, dueMicros } = changePlan(subscription, plan, now);
  if (dueMicros > 0 && !paysUnattended(subscription.card)) return { result: 'declined' };
  return {
    result: 'plan_changed',
    changed,
    payment: { amountMicros: dueMicros, currency: plan.price.currency },
  };
};

interface PortalForm {
  readonly action: Exclude<PortalChange['action'], 'pay_confirmed'> | 'confirm' | 'fail';
  readonly planId: string | undefined;
  readonly card: SandboxCard | undefined;
}

/** Carries out the form of the portal page. Returns the notice that the page then shows. Throws 422 for a missing field. */
const submitPortal = async (
  account: Account,
  { id, customer, sandbox }: Portal,
  form: PortalForm,
): Promise<PortalNotice | undefined> => {
  const isAnswer = form.action === 'confirm' || form.action === 'fail';
  // Without a question there is nothing to answer.
  if (isAnswer && !sandbox.is_challenged) return undefined;
  if (sandbox.is_challenged) account.objects.update(id, { sandbox: { is_challenged: false } });
  const change = toChange(form);
  if (change === undefined) return 'not_confirmed';
  const result = await changeInPortal(account, customer, change);
  if (result !== 'challenged') return result;
  account.objects.update(id, { sandbox: { is_challenged: true } });
  return undefined;
};

const toChange = ({ action, planId, card }: PortalForm): PortalChange | undefined => {
  switch (action) {
    case 'fail':
      return undefined;
    case 'confirm':
      return { action: 'pay_confirmed' };
    case 'change_plan':
      return { action, planId: required('plan_id', planId) };
    case 'change_card':
      return { action, card: required('card', card) };
    default:
      return { action };
  }
};

const required = <T>(field: string, value: T | undefined): T => {
  if (value === undefined) throw invalidField(['form', field], 'missing', 'Field required');
  return value;
};

/** Time for which a visit to the portal lasts. */
const PORTAL_SECONDS = 3_600;

/** Routes of the portal page. */
export const portalRoutes = (account: Account): Binding[] => [
  bind(sandboxRoutes.showSandboxPortal, async ({ params, query, req }) => {
    const portal = findPortal(account, params.session_id);
    if (portal === undefined) return replyToMissing(req, query.locale);
    const subscription = findManaged(account, portal.customer);
    const now = nowOf(account);
    return portalPage({
      portal: {
        id: portal.id,
        customer: portal.customer,
        returnUrl: portal.return_url,
        isChallenged: portal.sandbox.is_challenged,
      },
      subscription,
      price: subscription && findPrice(account, subscription),
      clock: subscription === undefined ? now : clockOf(subscription, now),
      offer: account.catalog,
      notice: query.notice,
      language: languageOf(req, query.locale),
    });
  }),
  bind(sandboxRoutes.submitSandboxPortal, async ({ params, body: { action, plan_id: planId, card, locale }, req }) => {
    const path = `/sandbox/payments/portal/${encodeURIComponent(params.session_id)}`;
    const portal = findPortal(account, params.session_id);
    if (portal === undefined) return replyToLostForm(req, pageUrl(path, { locale }));
    if (action === 'return') return seeOther(portal.return_url);
    const notice = await submitPortal(account, portal, { action, planId, card });
    return seeOther(pageUrl(path, { locale, notice }));
  }),
];

/** Finds a visit to the portal that has not expired. */
const findPortal = ({ objects }: Account, id: string): Portal | undefined => {
  const portal = objects.of('billing_portal.session', id);
  return portal !== undefined && portal.created + PORTAL_SECONDS > objects.nowSeconds() ? portal : undefined;
};
