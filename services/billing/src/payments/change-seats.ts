import { recordAct } from '@svc/database';
import { AppError } from '@svc/service-kit';
import { type JobDeps, runItems } from '../jobs.ts';
import {
  countSeats,
  findLiveOrder,
  findOrder,
  followOrder,
  listSeats,
  listWaitingOrders,
  lockSeats,
  type StoredOrder,
  updateAppliedChanges,
  updateWantedQuantity,
  withdrawChange,
} from '../seats/index.ts';
import { isEnded, nextProviderTicket } from '../subscriptions/index.ts';
import { type Buyer, type CheckoutDeps, createSeatsCheckout } from './create-checkout.ts';
import { refreshSubscription } from './refresh-subscription.ts';
import type { SettleCheckoutDeps } from './settle-checkout.ts';
import { setQuantity } from './stripe/index.ts';

export interface ChangeSeatsDeps extends CheckoutDeps, SettleCheckoutDeps {
  readonly newId: (prefix: 'cs' | 'sub') => string;
  readonly publicBaseUrl: string;
}

type SeatsChanged =
  | { readonly data: Awaited<ReturnType<typeof listSeats>> }
  | { readonly session_id: string; readonly url: string };

/** Orders per call. The next call takes the rest. */
const WAITING_MAX = 50;
/** Changes that overtake each other in one call. After that, the periodic work goes on. */
const OVERTAKEN_MAX = 10;
const REFUSED =
  'The payment provider refused the change, such as by a declined payment. Correct the payment method in the portal first.';

/**
 * Changes the number of seats of a plan. The first ones are bought at a checkout. Later changes are stored first, then made at
 * Stripe. Throws `seats_assigned` if members have more, `not_found` for an unknown plan, and `payment_provider_unavailable`: if
 * Stripe refused the change it has no effect, and if Stripe is away it is made later.
 */
export const changeSeats = async (
  deps: ChangeSeatsDeps,
  buyer: Buyer,
  { plan_id: planId, quantity }: { readonly plan_id: string; readonly quantity: number },
): Promise<SeatsChanged> => {
  const { database, offer } = deps;
  const organizationId = buyer.userId;
  const order = await findLiveOrder(database, { organizationId, planId });
  if (order === undefined && offer.find(planId) === undefined) throw new AppError('not_found');
  if (order === undefined && quantity > 0) {
    const page = `${deps.publicBaseUrl}/o/${organizationId}/organization/seats`;
    const urls = { success_url: page, cancel_url: page };
    const { session_id, url } = await createSeatsCheckout(deps, buyer, { ...urls, plan_id: planId, quantity });
    return { session_id, url };
  }
  if (order === undefined) buyer.act.changedNothing();
  else if (await want(deps, buyer, order, quantity)) await applyChange(deps, order.id);
  return { data: await listSeats(database, organizationId) };
};

/** Makes the changes at Stripe, and at the seats of members, that an outage or a crash has interrupted. */
export const finishSeatChanges = async (deps: SettleCheckoutDeps & JobDeps): Promise<void> =>
  runItems(deps, 'seats', await listWaitingOrders(deps.database, WAITING_MAX), (id) => finishOrder(deps, id));

const finishOrder = async (deps: SettleCheckoutDeps, id: string): Promise<void> => {
  const order = await findOrder(deps.database, id);
  if (order === undefined) return;
  if (order.appliedChanges < order.changes) await applyChange(deps, id);
  await followOrder(deps, id);
};

/** Stores the wish for a quantity. Returns false if nothing is to be done for it. */
const want = (
  { database, offer }: ChangeSeatsDeps,
  { userId, act }: Buyer,
  { id, planId }: StoredOrder,
  quantity: number,
): Promise<boolean> =>
  database.transaction(async (trx) => {
    await lockSeats(trx, userId);
    if (quantity < (await countSeats(trx, id))) throw new AppError('seats_assigned');
    const order = await findOrder(trx, id);
    if (order === undefined || isEnded(order.status) || order.wantedQuantity === quantity) {
      act.changedNothing();
      return order !== undefined && order.appliedChanges < order.changes;
    }
    await updateWantedQuantity(trx, id, quantity);
    const plan = offer.find(planId)?.name ?? planId;
    await recordAct(trx, act, { type: 'seats', id: planId, name: `${quantity} × ${plan}` });
    return true;
  });

/**
 * Makes the change at Stripe that was asked for last, then applies the state that Stripe reports. A change that was asked for
 * meanwhile is made too, because this one may have arrived at Stripe after it.
 */
const applyChange = async (deps: SettleCheckoutDeps, id: string): Promise<void> => {
  const { database } = deps;
  for (let tries = 0; tries < OVERTAKEN_MAX; tries += 1) {
    const order = await findOrder(database, id);
    if (order === undefined) return;
    const { providerSubscriptionId, wantedQuantity: quantity, changes } = order;
    const key = `seats-${id}-${changes}-${await nextProviderTicket(database)}`;
    const result = await setQuantity(deps, providerSubscriptionId, { quantity, key });
    await refreshSubscription(deps, providerSubscriptionId);
    if (result === 'refused') {
      await withdrawChange(database, id, changes);
      throw new AppError('payment_provider_unavailable', REFUSED);
    }
    if (await updateAppliedChanges(database, id, changes)) return;
  }
};
