import type { ConfiguredRoute, PriceList, ProviderKindName, TokenPrice } from '@svc/contracts';

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
const offeredModels = (routes: readonly TokenRoute[]): readonly OfferedModel[] => {
  const models = new Map<string, OfferedModel>();
  for (const route of routes) {
    const key = `${route.service} ${route.model}`;
    const known = models.get(key);
    models.set(key, known === undefined ? toOffered(route) : join(known, route));
  }
  return [...models.values()];
};

/** Returns a price with its default filled in. */
const toTokenPrice = (price: TokenPrice): OfferedModel['price'] => ({
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

/** A provider of inference. */
export interface Provider {
  readonly id: string;
  readonly kind: ProviderKindName;
  /** Name in compliance metadata. */
  readonly name: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path prefix of every endpoint, without a trailing slash; may be empty. */
  readonly basePath: string;
  readonly apiKey: string;
  /** Undefined if the provider's API has no versions. */
  readonly apiVersion: string | undefined;
}

/** Kinds of inference that a route can serve. */
export type RouteService = ConfiguredRoute['service'];

interface CommonRoute {
  readonly id: string;
  /** Model name in requests of callers. */
  readonly model: string;
  readonly upstreamModel: string;
  /** Model name in requests to the provider: the upstream model, or the name of its deployment. */
  readonly deployment: string;
  readonly provider: Provider;
  readonly dataZone: 'EU';
  /** Reference of the certification. */
  readonly certification: string;
  readonly certifiedFromMs: number;
  /** Exclusive. */
  readonly certifiedUntilMs: number;
}

/** A route billed by tokens. */
export interface TokenRoute extends CommonRoute {
  readonly service: Exclude<RouteService, 'audio_transcription'>;
  readonly price: TokenPrice;
  /** Assumed output limit of requests without one. */
  readonly outputTokensMax: number;
  /** Maximum input and output tokens of one request. Higher usage reported by a provider is implausible. */
  readonly contextTokensMax: number;
}

/** A route billed by seconds of audio. */
export interface AudioRoute extends CommonRoute {
  readonly service: 'audio_transcription';
  readonly price: { readonly micros_per_second: number };
}

/** An active route. Only the table checks that its certification is valid now. */
export type Route = TokenRoute | AudioRoute;

/** Index of one routes file. Immutable; a reload replaces it. */
export interface RouteTable {
  /** Routes for delegated chat that are certified now, in order of preference. */
  readonly delegatedChat: (nowMs: number) => readonly TokenRoute[];
  /** Routes for delegated transcription that are certified now, in order of preference. */
  readonly delegatedTranscription: (nowMs: number) => readonly AudioRoute[];
  /** Routes for a caller's model that are certified now, in the file's order; undefined for an unknown model. */
  readonly forModel: (
    service: TokenRoute['service'],
    model: string,
    nowMs: number,
  ) => readonly TokenRoute[] | undefined;
  /** Certifications of the active routes, expired ones included. */
  readonly certifications: readonly { readonly routeId: string; readonly untilMs: number }[];
  /** Models with at least one certified route, once for each of their services, in the file's order. */
  readonly models: (nowMs: number) => readonly OfferedModel[];
  /** Prices of the routes that delegated inference prefers now. */
  readonly delegatedPrices: (nowMs: number) => PriceList['delegated'];
}

interface RouteTableParts {
  /** Active routes. */
  readonly routes: readonly Route[];
  /** Service and model of every configured route, including inactive ones. */
  readonly configuredModels: readonly { readonly service: RouteService; readonly model: string }[];
  readonly delegatedChat: readonly string[];
  readonly delegatedTranscription: readonly string[];
}

/** Builds the index of a routes file. */
export const createRouteTable = (parts: RouteTableParts): RouteTable => {
  const tokenRoutes = parts.routes.filter((route) => route.service !== 'audio_transcription');
  const audioRoutes = parts.routes.filter((route) => route.service === 'audio_transcription');
  const chat = pick(tokenRoutes, parts.delegatedChat);
  const transcription = pick(audioRoutes, parts.delegatedTranscription);
  const byModel = new Map<string, TokenRoute[]>();
  for (const { service, model } of parts.configuredModels) byModel.set(modelKey(service, model), []);
  for (const route of tokenRoutes) byModel.get(modelKey(route.service, route.model))?.push(route);
  return {
    delegatedChat: (nowMs) => certified(chat, nowMs),
    delegatedTranscription: (nowMs) => certified(transcription, nowMs),
    forModel: (service, model, nowMs) => {
      const routes = byModel.get(modelKey(service, model));
      return routes === undefined ? undefined : certified(routes, nowMs);
    },
    certifications: parts.routes.map(({ id, certifiedUntilMs }) => ({ routeId: id, untilMs: certifiedUntilMs })),
    models: (nowMs) => offeredModels(certified(tokenRoutes, nowMs)),
    delegatedPrices: (nowMs) => {
      const [chatRoute] = certified(chat, nowMs);
      const [audioRoute] = certified(transcription, nowMs);
      return {
        chat: chatRoute === undefined ? null : toTokenPrice(chatRoute.price),
        audio_transcription: audioRoute?.price ?? null,
      };
    },
  };
};

const modelKey = (service: RouteService, model: string): string => `${service} ${model}`;

const pick = <R extends Route>(routes: readonly R[], ids: readonly string[]): readonly R[] =>
  ids.flatMap((id) => routes.filter((route) => route.id === id));

const certified = <R extends Route>(routes: readonly R[], nowMs: number): readonly R[] => {
  const holds = (route: R): boolean => route.certifiedFromMs <= nowMs && nowMs < route.certifiedUntilMs;
  // Avoids a copy if all certifications are valid, which is the usual case.
  return routes.every(holds) ? routes : routes.filter(holds);
};

const OPERATIONS: Readonly<Record<RouteService, string>> = {
  chat: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
  audio_transcription: 'transcription',
};

/** Returns `gen_ai.operation.name` of a kind of inference. */
export const operationName = (service: RouteService): string => OPERATIONS[service];
