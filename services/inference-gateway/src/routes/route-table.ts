import type { ConfiguredRoute, ProviderKindName, TokenPrice } from '@svc/contracts';

/** An upstream that speaks the common wire format, as its kind does. */
export interface Provider {
  readonly id: string;
  readonly kind: ProviderKindName;
  /** What compliance metadata calls it. */
  readonly name: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Path in front of every endpoint, without a slash at its end; may be empty. */
  readonly basePath: string;
  readonly apiKey: string;
  /** Undefined where the provider's API has no versions. */
  readonly apiVersion: string | undefined;
}

/** Kinds of inference that a route can serve. */
export type RouteService = ConfiguredRoute['service'];

interface CommonRoute {
  readonly id: string;
  /** The name that gateway callers use. */
  readonly model: string;
  readonly upstreamModel: string;
  /** What the provider is asked for: the model, or the name of its deployment. */
  readonly deployment: string;
  readonly provider: Provider;
  readonly dataZone: 'EU';
  /** Reference of the certification. */
  readonly certification: string;
  readonly certifiedFromMs: number;
  /** The first instant at which the route is no longer certified. */
  readonly certifiedUntilMs: number;
}

/** A route billed by tokens. */
export interface TokenRoute extends CommonRoute {
  readonly service: Exclude<RouteService, 'audio_transcription'>;
  readonly price: TokenPrice;
  /** Output tokens that a request without a limit of its own is expected to need at most. */
  readonly outputTokensMax: number;
  /** Input and output tokens of one request; a provider that reports more is not believed. */
  readonly contextTokensMax: number;
}

/** A route billed by seconds of audio. */
export interface AudioRoute extends CommonRoute {
  readonly service: 'audio_transcription';
  readonly price: { readonly micros_per_second: number };
}

/** An active route. Whether its certification holds now is asked of the table. */
export type Route = TokenRoute | AudioRoute;

/** A model that callers can name. */
export interface OfferedModel {
  readonly id: string;
  readonly ownedBy: string;
  readonly certifiedFromMs: number;
}

/** What one routes file says: immutable, replaced as a whole by a reload. */
export interface RouteTable {
  /** Routes for delegated chat that are certified now, in order of preference. */
  readonly delegatedChat: (nowMs: number) => readonly TokenRoute[];
  /** Routes for delegated transcription that are certified now, in order of preference. */
  readonly delegatedTranscription: (nowMs: number) => readonly AudioRoute[];
  /** Routes for a caller's model that are certified now, in the file's order; undefined for a model nobody ever configured. */
  readonly forModel: (
    service: TokenRoute['service'],
    model: string,
    nowMs: number,
  ) => readonly TokenRoute[] | undefined;
  /** Models with at least one certified route, in the file's order. */
  readonly models: (nowMs: number) => readonly OfferedModel[];
}

/** What a table is built from: active routes, and the names of all that are configured. */
export interface RouteTableParts {
  readonly routes: readonly Route[];
  /** `service` and model of every configured route, active or not. */
  readonly configuredModels: readonly { readonly service: RouteService; readonly model: string }[];
  readonly delegatedChat: readonly string[];
  readonly delegatedTranscription: readonly string[];
}

/** Indexes a routes file for look-ups by every request. */
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
    models: (nowMs) => offeredModels(certified(tokenRoutes, nowMs)),
  };
};

const modelKey = (service: RouteService, model: string): string => `${service} ${model}`;

const pick = <R extends Route>(routes: readonly R[], ids: readonly string[]): readonly R[] =>
  ids.flatMap((id) => routes.filter((route) => route.id === id));

const certified = <R extends Route>(routes: readonly R[], nowMs: number): readonly R[] => {
  const holds = (route: R): boolean => route.certifiedFromMs <= nowMs && nowMs < route.certifiedUntilMs;
  // Nearly always all of them hold, and then nothing is copied.
  return routes.every(holds) ? routes : routes.filter(holds);
};

const offeredModels = (routes: readonly TokenRoute[]): readonly OfferedModel[] => {
  const models = new Map<string, OfferedModel>();
  for (const { model, provider, certifiedFromMs } of routes) {
    if (!models.has(model)) models.set(model, { id: model, ownedBy: provider.name, certifiedFromMs });
  }
  return [...models.values()];
};
