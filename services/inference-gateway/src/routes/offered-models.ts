import type { PriceList, TokenPrice } from '@svc/contracts';
import type { TokenRoute } from './route-table.ts';

/** A model in the lists for callers. */
export interface OfferedModel {
  readonly id: string;
  readonly service: TokenRoute['service'];
  readonly ownedBy: string;
  readonly certifiedFromMs: number;
  readonly contextTokensMax: number;
  readonly outputTokensMax: number;
  /** The highest prices of its routes, as any of them may serve a request. */
  readonly price: NonNullable<PriceList['delegated']['chat']>;
}

/** Joins routes of the same service and model. */
export const offeredModels = (routes: readonly TokenRoute[]): readonly OfferedModel[] => {
  const models = new Map<string, OfferedModel>();
  for (const route of routes) {
    const key = `${route.service} ${route.model}`;
    const known = models.get(key);
    models.set(key, known === undefined ? toOffered(route) : join(known, route));
  }
  return [...models.values()];
};

/** Returns a price with its default filled in. */
export const toTokenPrice = (price: TokenPrice): OfferedModel['price'] => ({
  input_micros_per_million: price.input_micros_per_million,
  cached_input_micros_per_million: price.cached_input_micros_per_million ?? price.input_micros_per_million,
  output_micros_per_million: price.output_micros_per_million,
});

const toOffered = (route: TokenRoute): OfferedModel => ({
  id: route.model,
  service: route.service,
  ownedBy: route.provider.name,
  certifiedFromMs: route.certifiedFromMs,
  contextTokensMax: route.contextTokensMax,
  outputTokensMax: route.outputTokensMax,
  price: toTokenPrice(route.price),
});

/** A request may go to either route: it pays at most the higher price, and gets at least the smaller limits. */
const join = (known: OfferedModel, route: TokenRoute): OfferedModel => {
  const price = toTokenPrice(route.price);
  const higher = (name: keyof OfferedModel['price']): number => Math.max(known.price[name], price[name]);
  return {
    ...known,
    contextTokensMax: Math.min(known.contextTokensMax, route.contextTokensMax),
    outputTokensMax: Math.min(known.outputTokensMax, route.outputTokensMax),
    price: {
      input_micros_per_million: higher('input_micros_per_million'),
      cached_input_micros_per_million: higher('cached_input_micros_per_million'),
      output_micros_per_million: higher('output_micros_per_million'),
    },
  };
};
