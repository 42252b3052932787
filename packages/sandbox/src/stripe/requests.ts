import { type Account, CardError, Outage, Refusal } from './account.ts';
import { nowOf } from './advance-subscription.ts';
import { findSession, makeSession } from './checkout-sessions.ts';
import { changeQuantity, clockOf, paysUnattended } from './hosted-subscription.ts';
import { findPrice, invoiceSubscription } from './invoice-change.ts';
import { addInvoiceItem, changeInvoice, draftInvoice } from './invoices.ts';
import type { Fields, Kinds, Subscription } from './objects.ts';
import { cancelPayment, chargeSaved, refund } from './payments.ts';
import { cancelSubscription, changeSubscription, saveHosted, toHosted } from './subscriptions.ts';

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;
/** Members by which a list is filtered if the request names them. */
const FILTERS = ['customer', 'payment_intent', 'subscription', 'type', 'status'] as const;

/** Returns a page of a list, newest first. Objects are given oldest first. */
const listPage = (url: string, objects: readonly Fields[], params: Fields): Fields => {
  const query = { ...params, payment_intent: params['payment_intent'] ?? Object(params['payment'])['payment_intent'] };
  const since = Number(Object(params['created'])['gte'] ?? 0);
  const wanted = objects
    .filter(
      (object) =>
        Number(object['created']) >= since &&
        FILTERS.every((name) => query[name as keyof typeof query] === undefined || matches(object[name], query, name)),
    )
    .toReversed();
  return pageOf(url, wanted, params);
};

/** Returns the page of a list that follows `starting_after`. */
const pageOf = (url: string, wanted: readonly Fields[], params: Fields): Fields => {
  const start = wanted.findIndex(({ id }) => id === params['starting_after']) + 1;
  const limit = Math.min(Number(params['limit'] ?? LIMIT_DEFAULT), LIMIT_MAX);
  const data = wanted.slice(start, start + limit);
  return { object: 'list', url, data, has_more: start + data.length < wanted.length };
};

const matches = (value: unknown, query: Fields, name: string): boolean =>
  value === query[name] || (name === 'status' && query[name] === 'all');

/** Returns the quantity that an update of a subscription asks for; undefined if it asks for none. */
const quantityOf = ({ items }: Fields): number | undefined => {
  // Parsed from a form: items have the members that the request names.
  const [item] = (Array.isArray(items) ? items : []) as { readonly quantity?: string }[];
  return item?.quantity === undefined ? undefined : Number(item.quantity);
};

/** Changes the quantity of a subscription, and charges the saved card for more. Throws CardError if the card declines. */
const updateQuantity = (account: Account, subscription: Subscription, quantity: number): void => {
  const before = toHosted(account, subscription);
  const price = findPrice(account, { ...before, quantity: 1 });
  if (price === undefined) throw new Refusal('resource_missing', 'items[0][price]');
  const at = clockOf(before, nowOf(account));
  const { changed, dueMicros } = changeQuantity(before, { quantity, price }, at);
  if (dueMicros > 0 && !paysUnattended(before.card)) throw new CardError('card_declined', subscription);
  saveHosted(account, changed);
  if (dueMicros > 0) invoiceSubscription(account, changed, { ...price, amountMicros: dueMicros, start: at, at });
};

/** Kinds of object by the path that lists them. */
const LISTED: Readonly<Record<string, keyof Kinds>> = {
  '/v1/checkout/sessions': 'checkout.session',
  '/v1/disputes': 'dispute',
  '/v1/invoice_payments': 'invoice_payment',
  '/v1/invoices': 'invoice',
  '/v1/payment_intents': 'payment_intent',
  '/v1/refunds': 'refund',
  '/v1/subscriptions': 'subscription',
};

/** Time after which the search finds a new object. */
const SEARCH_LAG_SECONDS = 60;

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly params: Fields;
}

/** Carries out a request. Returns undefined for an unknown object. Throws CardError, Refusal and Outage. */
export const answerRequest = async (
  account: Account,
  request: ApiRequest,
  undelivered: readonly Fields[],
): Promise<Fields | undefined> => {
  const { method, path, params } = request;
  const refusal = account.misbehavior.refuse(method, path, params);
  if (refusal === 'outage') throw new Outage();
  if (refusal !== undefined) throw new Refusal(refusal);
  if (method === 'GET') return await read(account, request, undelivered);
  const { customer } = params;
  if (typeof customer === 'string' && !isCustomer(account, customer)) {
    throw new Refusal('resource_missing', 'customer');
  }
  return method === 'DELETE' ? await remove(account, path) : await write(account, request);
};

const isCustomer = ({ objects }: Account, id: string): boolean => {
  const customer = objects.of('customer', id);
  return customer !== undefined && customer.deleted !== true;
};

const read = async (
  account: Account,
  { path, params }: ApiRequest,
  undelivered: readonly Fields[],
): Promise<Fields | undefined> => {
  const { objects } = account;
  const [, , kind, owner = '', action] = path.split('/');
  const listed = LISTED[path];
  const { customer } = params;
  if (typeof customer === 'string' && objects.of('customer', customer) === undefined) {
    throw new Refusal('resource_missing', 'customer');
  }
  const after = params['starting_after'];
  if (typeof after === 'string' && (findEvent(account, after, undelivered) ?? objects.find(after)) === undefined) {
    throw new Refusal('resource_missing', 'starting_after');
  }
  if (listed !== undefined) return listPage(path, objects.list(listed).filter(isListed(listed, params)), params);
  if (path === '/v1/customers/search') return searchCustomers(account, params);
  if (action === 'payment_methods') {
    return listPage(path, objects.list('payment_method'), { ...params, customer: owner });
  }
  if (kind === 'events')
    return owner === '' ? listEvents(account, params, undelivered) : findEvent(account, owner, undelivered);
  const id = path.split('/').at(-1) ?? '';
  const object = kind === 'checkout' ? findSession(account, id) : objects.find(id);
  if (object === undefined) return undefined;
  const answer = structuredClone(expand(account, object, params));
  await account.misbehavior.afterRead(path);
  return answer;
};

/** Finds customers by the account in their metadata. The search knows a customer only some time after its creation. */
const searchCustomers = ({ objects }: Account, params: Fields): Fields => {
  const userId = /^metadata\['svc_user_id'\]:'(.+)'$/.exec(String(params['query']))?.[1];
  const known = objects.nowSeconds() - SEARCH_LAG_SECONDS;
  const found = objects
    .list('customer')
    .filter(
      ({ metadata, deleted, created }) => deleted !== true && metadata['svc_user_id'] === userId && created <= known,
    );
  return { ...pageOf('/v1/customers/search', found, params), object: 'search_result' };
};

/** The list of subscriptions leaves canceled ones out unless a status is asked for. */
const isListed =
  (kind: keyof Kinds, params: Fields) =>
  (object: Fields): boolean =>
    kind !== 'subscription' || params['status'] !== undefined || object['status'] !== 'canceled';

const expand = ({ objects }: Account, object: Fields, { expand: members }: Fields): Fields => {
  const latest = object['latest_invoice'];
  return members === undefined || typeof latest !== 'string'
    ? object
    : { ...object, latest_invoice: objects.find(latest) ?? null };
};

const findEvent = ({ objects }: Account, wanted: string, undelivered: readonly Fields[]): Fields | undefined =>
  undelivered.find(({ id }) => id === wanted) ?? objects.of('event', wanted);

/** Lists events newest first, optionally only those that the endpoint has not accepted. */
const listEvents = ({ objects }: Account, params: Fields, undelivered: readonly Fields[]): Fields => {
  const { types, delivery_success: isDelivered } = params;
  const since = Number(Object(params['created'])['gte'] ?? 0);
  const stored = objects
    .list('event')
    .filter(
      ({ pending_webhooks: pending }) => isDelivered === undefined || (pending === 0) === (isDelivered === 'true'),
    )
    .toReversed();
  const wanted = [...undelivered, ...stored].filter(
    ({ type, created }) => (!Array.isArray(types) || types.includes(type)) && Number(created) >= since,
  );
  return pageOf('/v1/events', wanted, params);
};

const write = async (account: Account, { path, params }: ApiRequest): Promise<Fields | undefined> => {
  const { objects, misbehavior, publicBaseUrl } = account;
  const [, , kind, owner = '', action = ''] = path.split('/');
  switch (path) {
    case '/v1/customers':
      return objects.put('customer', 'cus', { name: null, preferred_locales: [], ...params });
    case '/v1/checkout/sessions': {
      const session = makeSession(account, params);
      await misbehavior.onSessionMade(session);
      return session;
    }
    case '/v1/billing_portal/sessions': {
      const portal = objects.put('billing_portal.session', 'bps', { ...params, sandbox: { is_challenged: false } });
      objects.update(portal.id, { url: `${publicBaseUrl}/sandbox/payments/portal/${portal.id}` });
      return objects.get(portal.id);
    }
    case '/v1/refunds':
      return refund(account, params);
    case '/v1/payment_intents':
      return await chargeSaved(account, params);
    case '/v1/invoices':
      return draftInvoice(account, params);
    case '/v1/invoiceitems':
      return addInvoiceItem(account, params);
  }
  if (kind === 'payment_intents' && action === 'cancel') return cancelPayment(account, owner);
  if (kind === 'invoices') return changeInvoice(account, owner, action, params);
  if (kind === 'customers' && isCustomer(account, owner)) {
    objects.update(owner, params);
    return objects.get(owner);
  }
  if (kind === 'subscriptions' && objects.of('subscription', owner) !== undefined) {
    updateSubscription(account, owner, params);
    await misbehavior.afterRead(path);
    return objects.get(owner);
  }
  return undefined;
};

const updateSubscription = (account: Account, id: string, params: Fields): void => {
  const subscription = account.objects.of('subscription', id);
  const quantity = quantityOf(params);
  if (subscription !== undefined && quantity !== undefined) updateQuantity(account, subscription, quantity);
  const isCancelled = params['cancel_at_period_end'];
  if (isCancelled !== undefined) changeSubscription(account, id, { cancel_at_period_end: isCancelled === 'true' });
};

const remove = async (account: Account, path: string): Promise<Fields | undefined> => {
  const { objects, misbehavior } = account;
  const id = path.split('/').at(-1) ?? '';
  const subscription = objects.of('subscription', id);
  if (subscription !== undefined) {
    cancelSubscription(account, subscription);
    await misbehavior.afterRead(path);
    return objects.get(id);
  }
  if (!isCustomer(account, id)) return undefined;
  deleteCustomer(account, id);
  await misbehavior.afterRead(path);
  return objects.get(id);
};

/** Deletes a customer. Its id stays known, but for reading only, and its cards are gone. */
export const deleteCustomer = ({ objects }: Account, id: string): void => {
  objects.set({ id, object: 'customer', deleted: true });
  for (const method of objects.list('payment_method')) if (method.customer === id) objects.delete(method.id);
};
