import { internalRoutes, type Plan, type PriceList } from '@svc/contracts';
import type { Clock, InternalClient } from '@svc/service-kit';
import { SECOND_MS } from '../time.ts';

/** Plans and prices; a part is undefined while its service does not respond. */
export interface Offer {
  readonly plans: readonly Plan[] | undefined;
  readonly prices: PriceList | undefined;
}

/** Returns what is on offer. Never rejects. */
export type ReadOffer = () => Promise<Offer>;

interface ReadOfferDeps {
  readonly billing: Pick<InternalClient, 'call'>;
  readonly gateway: Pick<InternalClient, 'call'>;
  readonly clock: Clock;
}

/** Plans and prices change with a deployment or a reload of the routes file. */
const CACHE_MS = 60 * SECOND_MS;
/** A part that is missing is asked for again soon. */
const RETRY_MS = 5 * SECOND_MS;
/** The page renders without these answers. */
const TIMEOUT_MS = 2 * SECOND_MS;

/** Creates the cached lookup. Concurrent pages share one call. */
export const createReadOffer = ({ billing, gateway, clock }: ReadOfferDeps): ReadOffer => {
  let known: { readonly offer: Promise<Offer>; expiresAtMs: number } | undefined;
  const ask = async (): Promise<Offer> => {
    const options = { timeoutMs: TIMEOUT_MS };
    const [plans, prices] = await Promise.all([
      billing.call(internalRoutes.listOfferedPlans, options).then(
        ({ body }) => body.data,
        () => undefined,
      ),
      gateway.call(internalRoutes.readPriceList, options).then(
        ({ body }) => body,
        () => undefined,
      ),
    ]);
    return { plans, prices };
  };
  return async () => {
    const nowMs = clock().getTime();
    if (known !== undefined && nowMs < known.expiresAtMs) return await known.offer;
    const asked = { offer: ask(), expiresAtMs: nowMs + CACHE_MS };
    known = asked;
    const offer = await asked.offer;
    if (offer.plans === undefined || offer.prices === undefined) asked.expiresAtMs = nowMs + RETRY_MS;
    return offer;
  };
};
