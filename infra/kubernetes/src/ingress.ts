import { type RouteDefinition, routes, type ServiceName, unservedPaths } from '@svc/contracts';

/**
 * Match of a path: `exact` and `prefix` (by whole segments) in plain text, `pattern` as an anchored regular expression.
 */
interface PathRule {
  readonly kind: 'exact' | 'prefix' | 'pattern';
  readonly path: string;
  readonly service: ServiceName;
}

/** The part of a route that determines its rules. */
export type RoutedPath = Pick<RouteDefinition, 'path' | 'service'>;

interface PathNode {
  readonly children: Map<string, PathNode>;
  /** Owner of the route that ends here. */
  own: ServiceName | undefined;
  /** Owners of this node and all below. */
  readonly owners: Set<ServiceName>;
}

/** Placeholder for every parameter in a path; no literal segment can equal it. */
const PARAMETER = '{}';

/**
 * Computes the minimal rules that send every path of the contract to its owner: a subtree with one owner is one prefix;
 * below a shared prefix every route has a separate rule. Rules never overlap, so a controller's precedence is
 * irrelevant. Throws if a literal and a parameter of different owners compete for one segment, or two services for one
 * path.
 */
export const pathRules = (routes: readonly RoutedPath[]): PathRule[] => {
  const root = newNode();
  for (const route of routes) insert(root, route);
  return collect(root, '');
};

const newNode = (): PathNode => ({ children: new Map(), own: undefined, owners: new Set() });

const insert = (root: PathNode, { path, service }: RoutedPath): void => {
  let node = root;
  for (const segment of path.split('/').slice(1)) {
    const key = segment.startsWith('{') ? PARAMETER : segment;
    const child = node.children.get(key) ?? newNode();
    node.children.set(key, child);
    child.owners.add(service);
    node = child;
  }
  if (node.own !== undefined && node.own !== service) throw new Error(`${node.own} and ${service} both claim ${path}.`);
  node.own = service;
};

const collect = (node: PathNode, path: string): PathRule[] => {
  if (node.children.has(PARAMETER) && node.children.size > 1 && node.owners.size > 1) {
    throw new Error(`Below ${path} a parameter and a literal of several owners compete.`);
  }
  const rules: PathRule[] = [];
  if (path !== '' && node.own !== undefined) rules.push(rule(path, node.own, 'exact'));
  for (const [segment, child] of node.children) {
    const below = `${path}/${segment}`;
    const [owner] = child.owners;
    if (child.owners.size === 1 && owner !== undefined) rules.push(rule(below, owner, 'prefix'));
    else rules.push(...collect(child, below));
  }
  return rules;
};

const rule = (path: string, service: ServiceName, kind: 'exact' | 'prefix'): PathRule =>
  path.includes(PARAMETER) ? { kind: 'pattern', path: pathPattern(path, kind), service } : { kind, path, service };

const pathPattern = (path: string, kind: 'exact' | 'prefix'): string =>
  `${escapePattern(path).replaceAll('\\{\\}', '[^/]+')}${kind === 'prefix' ? '(/.*)?' : ''}`;

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Renders a rule as a regular expression without anchors, for controllers that support nothing else. */
const rulePattern = ({ kind, path }: Pick<PathRule, 'kind' | 'path'>): string =>
  kind === 'pattern' ? path : pathPattern(path, kind);

/** Returns true if a rule matches a path, like the controllers; for tests. */
export const matchesRule = (rule: Pick<PathRule, 'kind' | 'path'>, path: string): boolean =>
  new RegExp(`^${rulePattern(rule)}$`).test(path);

/** One service behind the entrance, with the needs of its responses. */
interface EntranceService {
  readonly name: ServiceName | 'console';
  readonly rules: EntranceRule[];
  /** Largest body that one of its routes accepts. */
  readonly bodyBytesMax: number;
  /** True if responses may start late and stream for minutes. */
  readonly streams: boolean;
}

/** A rule of the contract, or the console's catch-all. */
type EntranceRule = Pick<PathRule, 'kind' | 'path'>;

/** The only service with streaming responses. */
const STREAMING: ServiceName = 'inference-gateway';
const MEBIBYTE = 1_048_576;

/** Lists the services behind the entrance: each with its paths from the contract, and the console with the rest. */
export const entranceServices = (routes: readonly RouteDefinition[]): EntranceService[] => {
  const rules = pathRules([...routes, ...unservedPaths]);
  const names = [...new Set(rules.map(({ service }) => service))].sort();
  return [
    ...names.map((name) => ({
      name,
      rules: rules.filter(({ service }) => service === name).map(({ kind, path }) => ({ kind, path })),
      bodyBytesMax: Math.max(MEBIBYTE, ...routes.filter(({ service }) => service === name).map(bodyBytes)),
      streams: name === STREAMING,
    })),
    { name: 'console', rules: [{ kind: 'prefix', path: '/' }], bodyBytesMax: MEBIBYTE, streams: false },
  ];
};

const bodyBytes = ({ request }: RouteDefinition): number => request.body?.bytesMax ?? 0;

/** Rounds bytes up to whole MiB. */
const inMebibytes = (bytes: number): number => Math.ceil(bytes / MEBIBYTE);

/** Limits for a whole request: uploading 300 s, responding 600 s, plus time for admission. */
const REQUEST_TIMEOUT = { answers: '65s', streams: '960s' };
const MATCH_TYPES = { exact: 'Exact', prefix: 'PathPrefix', pattern: 'RegularExpression' } as const;
/** Limit of the Gateway API per rule. */
const MATCHES_MAX = 64;

/**
 * Renders one HTTPRoute per service. Gateways stream in both directions and leave body limits to the services (413 by
 * the contract). An incoming request id is removed: services trust it, and it identifies a reservation. Throws if a
 * service has more paths than a rule may match.
 */
export const httpRouteManifests = (services: readonly EntranceService[]): object[] =>
  services.map(({ name, rules, streams }) => {
    if (rules.length > MATCHES_MAX) throw new Error(`${name} has more than ${MATCHES_MAX} paths.`);
    const timeout = streams ? REQUEST_TIMEOUT.streams : REQUEST_TIMEOUT.answers;
    return {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name },
      spec: {
        parentRefs: [{ name: 'svc', sectionName: 'https' }],
        rules: [
          {
            matches: rules.map(toMatch),
            filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['X-Request-Id'] } }],
            timeouts: { request: timeout, backendRequest: timeout },
            backendRefs: [{ name, port: 3000 }],
          },
        ],
      },
    };
  });

const toMatch = ({ kind, path }: EntranceRule): object => ({ path: { type: MATCH_TYPES[kind], value: path } });

/**
 * Maximum seconds without data from a service: providers are slow, and billing may be too. Longer than any of the
 * services' timeouts.
 */
const SILENCE_SECONDS = { answers: 65, streams: 660 };
const PREFIX = 'nginx.ingress.kubernetes.io';
/**
 * Matches below an app whose client id is an address: nginx decodes `https%3A%2F%2F…` and merges its slashes before it
 * matches, and forwards the path as it came.
 */
const ADDRESSES_OF: Readonly<Record<string, readonly string[]>> = { auth: [`${routes.listApps.path}/https:/.+$`] };

/**
 * Renders one Ingress per service for ingress-nginx: paths as regular expressions (the contract has parameters between
 * literals), no buffering in either direction, the body limit of the contract. An incoming request id is cleared:
 * services trust it, and it identifies a reservation.
 */
export const ingressManifests = (services: readonly EntranceService[]): object[] =>
  services.map((service) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: service.name, annotations: annotations(service) },
    spec: {
      ingressClassName: 'nginx',
      rules: [
        {
          http: {
            paths: [
              ...service.rules.map((rule) => toPath(rule, service.name)),
              ...(ADDRESSES_OF[service.name] ?? []).map((path) => patternPath(path, service.name)),
            ],
          },
        },
      ],
    },
  }));

const annotations = ({ streams, bodyBytesMax }: EntranceService): Record<string, string> => {
  const seconds = String(streams ? SILENCE_SECONDS.streams : SILENCE_SECONDS.answers);
  return {
    [`${PREFIX}/use-regex`]: 'true',
    [`${PREFIX}/proxy-body-size`]: `${inMebibytes(bodyBytesMax)}m`,
    [`${PREFIX}/proxy-buffering`]: 'off',
    [`${PREFIX}/proxy-request-buffering`]: 'off',
    [`${PREFIX}/proxy-http-version`]: '1.1',
    [`${PREFIX}/proxy-connect-timeout`]: '5',
    [`${PREFIX}/proxy-read-timeout`]: seconds,
    [`${PREFIX}/proxy-send-timeout`]: seconds,
    [`${PREFIX}/configuration-snippet`]: 'more_clear_input_headers "X-Request-Id";\n',
  };
};

const toPath = (rule: EntranceRule, service: string): object =>
  rule.path === '/'
    ? { path: '/', pathType: 'Prefix', backend: backendOf(service) }
    : patternPath(`${rulePattern(rule)}$`, service);

const patternPath = (path: string, service: string): object => ({
  path,
  pathType: 'ImplementationSpecific',
  backend: backendOf(service),
});

const backendOf = (service: string): object => ({ service: { name: service, port: { name: 'public' } } });
