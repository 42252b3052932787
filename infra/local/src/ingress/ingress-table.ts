import {
  type ErrorShape,
  type IncomingPath,
  type RouteDefinition,
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
}

export interface IngressTable {
  readonly match: (path: string) => IngressMatch | undefined;
}

export interface IngressRoute extends Omit<IncomingPath, 'service'> {
  readonly service: IngressOwner;
  readonly errors?: RouteDefinition['errors'];
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
  return { service, errorShape: node.errorShape, template: `${node.template}/*`, mayCost: false };
};
