import {
  type ErrorShape,
  type IncomingPath,
  type RouteDefinition,
  routes,
  type ServiceName,
  sandboxRoutes,
} from '@svc/contracts';

/** A part of the product behind the ingress: a service of the contract, the console, or a stand-in for a third party. */
export type IngressOwner = ServiceName | 'console' | 'sandbox-mail' | 'sandbox-payments';

export interface IngressMatch {
  readonly service: IngressOwner;
  readonly errorShape: ErrorShape;
  /** The matching path template or common prefix. Safe to log, as it holds no identifiers. */
  readonly template: string;
  /** True if a request that reached the service may have cost something, answered or not. */
  readonly mayCost: boolean;
  /** True if pages of any origin may read the answers, errors of the ingress included. */
  readonly isCrossOrigin: boolean;
}

export interface IngressTable {
  readonly match: (path: string) => IngressMatch | undefined;
}

export interface IngressRoute extends Omit<IncomingPath, 'service'> {
  readonly service: IngressOwner;
  readonly errors?: RouteDefinition['errors'];
  readonly crossOrigin?: true;
}

/** Routes of the sandbox mail server. They are not part of the contract: only the local stack runs it. */
export const sandboxMailRoutes: readonly IngressRoute[] = ['', '/html', '/messages'].map((path) => ({
  path: `/sandbox/mail${path}`,
  service: 'sandbox-mail',
  errorShape: 'detail',
}));

/** Routes of the stand-in for Stripe, which only runs where nothing is really paid. */
export const sandboxPaymentRoutes: readonly IngressRoute[] = Object.values(sandboxRoutes).map((route) => ({
  ...route,
  service: 'sandbox-payments',
}));

interface PathNode {
  readonly template: string;
  readonly literals: Map<string, PathNode>;
  parameter: PathNode | undefined;
  own: IngressMatch | undefined;
  /** Services of all routes at and below this node. */
  readonly owners: Set<IngressOwner>;
  /** Error shape of the first route at or below this node. */
  readonly errorShape: ErrorShape;
}

/**
 * Builds the path table of the contract. The most specific route wins: a literal segment before a parameter. An unknown path
 * goes to the owner of everything below its longest known prefix, which answers its own 404. It has no owner if several
 * services share that prefix. Throws if two services claim one path.
 */
export const ingressTable = (routes: readonly IngressRoute[]): IngressTable => {
  const root = newNode('', 'detail');
  for (const route of routes) insert(root, route);
  return {
    match: (path) => {
      const segments = path.replace(/\/$/, '').split('/').slice(1);
      return findRoute(root, segments, 0) ?? findOwner(root, segments);
    },
  };
};

const newNode = (template: string, errorShape: ErrorShape): PathNode => ({
  template,
  literals: new Map(),
  parameter: undefined,
  own: undefined,
  owners: new Set(),
  errorShape,
});

const insert = (root: PathNode, route: IngressRoute): void => {
  let node = root;
  for (const segment of route.path.split('/').slice(1)) {
    node = childFor(node, segment, route.errorShape);
    node.owners.add(route.service);
  }
  if (node.own !== undefined && node.own.service !== route.service) {
    throw new Error(`Both ${node.own.service} and ${route.service} claim ${route.path}.`);
  }
  node.own ??= {
    service: route.service,
    errorShape: route.errorShape,
    template: route.path,
    mayCost: route.errors?.includes('upstream_timeout_uncertain') === true,
    isCrossOrigin: route.crossOrigin === true,
  };
};

const childFor = (node: PathNode, segment: string, errorShape: ErrorShape): PathNode => {
  const isParameter = segment.startsWith('{');
  const known = isParameter ? node.parameter : node.literals.get(segment);
  if (known !== undefined) return known;
  const child = newNode(`${node.template}/${segment}`, errorShape);
  if (isParameter) node.parameter = child;
  else node.literals.set(segment, child);
  return child;
};

const findRoute = (node: PathNode, segments: readonly string[], depth: number): IngressMatch | undefined => {
  const segment = segments[depth];
  if (segment === undefined) return node.own;
  const literal = node.literals.get(segment);
  const found = literal === undefined ? undefined : findRoute(literal, segments, depth + 1);
  if (found !== undefined || node.parameter === undefined) return found;
  return findRoute(node.parameter, segments, depth + 1);
};

const findOwner = (root: PathNode, segments: readonly string[]): IngressMatch | undefined => {
  let node = root;
  for (const segment of segments) {
    const next = node.literals.get(segment) ?? node.parameter;
    if (next === undefined) break;
    node = next;
  }
  const [service] = node.owners;
  if (service === undefined || node.owners.size > 1) return undefined;
  const template = `${node.template}/*`;
  return { service, errorShape: node.errorShape, template, mayCost: false, isCrossOrigin: false };
};

/** First segments without pages, so that a mistyped API path is a plain 404. */
const NO_PAGES = new Set(['v1', 'sandbox', '.well-known', 'internal', 'metrics', 'healthz', 'readyz']);

const PAGES: IngressMatch = {
  service: 'console',
  errorShape: 'detail',
  template: 'pages',
  mayCost: false,
  isCrossOrigin: false,
};

/** Returns the console as the owner of a path that no route owns, unless it cannot be a page. */
export const matchPage = (path: string): IngressMatch | undefined =>
  NO_PAGES.has(path.split('/')[1] ?? '') ? undefined : PAGES;

/** RFC 3986 §3.3: a path of `pchar` segments. */
const PATH = /^(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)+$/;
/** Encoded bytes that some software decodes to structure: NUL, slash, backslash. */
const ENCODED_STRUCTURE = /%(?:00|2f|5c)/i;
const ENCODED_SLASH = /%2f/gi;
/** A dot segment in any spelling (RFC 3986 §5.2.4; WHATWG URL decodes `%2e` first). */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;
/** Everything below is one id, in which a slash means the same encoded or not. */
const MODELS = `${routes.listModels.path}/`;

/** One segment below these is a client id. That of a metadata document is an address, whose slashes are encoded. */
const CLIENT_ADDRESS = new RegExp(
  `^(?:${routes.listApps.path}|${routes.listConnections.path})/https(?::|%3A)(?:%2F){2}[^/]+`,
  'i',
);

/**
 * Returns the path of a request target. Undefined if two readers could find different segments in it: dot segments, empty
 * segments, encoded slashes outside of a client id, or no path at all (`*`).
 */
export const readRequestPath = (target: string | undefined): string | undefined => {
  const path = (target ?? '').split('?', 1)[0] ?? '';
  const plain = path.startsWith(MODELS) ? path.replace(ENCODED_SLASH, '/') : withoutAddress(path);
  if (!PATH.test(path) || ENCODED_STRUCTURE.test(plain)) return undefined;
  const segments = plain.slice(1).split('/');
  const isAmbiguous = segments.some((segment, index) => {
    const isTrailingSlash = segment === '' && index === segments.length - 1;
    return (segment === '' && !isTrailingSlash) || DOT_SEGMENT.test(segment);
  });
  return isAmbiguous ? undefined : path;
};

/** Hides the encoded slashes of a client id, of which its owner reads the whole segment. */
const withoutAddress = (path: string): string =>
  path.replace(CLIENT_ADDRESS, (client) => client.replace(ENCODED_SLASH, '_'));
