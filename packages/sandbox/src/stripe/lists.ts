import type { Fields } from './objects.ts';

const LIMIT_DEFAULT = 10;
const LIMIT_MAX = 100;
/** Members by which a list is filtered if the request names them. */
const FILTERS = ['customer', 'payment_intent', 'subscription', 'type', 'status'] as const;

/** Returns a page of a list, newest first. Objects are given oldest first. */
export const listPage = (url: string, objects: readonly Fields[], params: Fields): Fields => {
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
export const pageOf = (url: string, wanted: readonly Fields[], params: Fields): Fields => {
  const start = wanted.findIndex(({ id }) => id === params['starting_after']) + 1;
  const limit = Math.min(Number(params['limit'] ?? LIMIT_DEFAULT), LIMIT_MAX);
  const data = wanted.slice(start, start + limit);
  return { object: 'list', url, data, has_more: start + data.length < wanted.length };
};

const matches = (value: unknown, query: Fields, name: string): boolean =>
  value === query[name] || (name === 'status' && query[name] === 'all');
