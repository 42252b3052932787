import type { ErrorShape, RouteDefinition, ServiceName } from '@svc/contracts';

/** Who answers behind the ingress: the services of the contract, and the console's pages. */
export type IngressOwner = ServiceName | 'console';

/** Where a path goes, and how errors look there. */
export interface IngressMatch {
  service: IngressOwner;
  errorShape: ErrorShape;
  /** The path template or the common prefix that matched; safe to log, as it holds no identifiers. */
  template: string;
  /** A request that reached the service may have cost something, whether or not it was answered. */
  mayCost: boolean;
}

/** Answers which service owns a path. */
export interface IngressTable {
  match: (path: string) => IngressMatch | undefined;
}

/** What the table needs to know of a route. */
export type IngressRoute = Pick<RouteDefinition, 'path' | 'service' | 'errorShape' | 'errors'>;

interface PathNode {
  template: string;
  literals: Map<string, PathNode>;
  parameter: PathNode | undefined;
  /** Set where a route ends. */
  own: IngressMatch | undefined;
  /** Services of all routes at and below this node. */
  owners: Set<IngressOwner>;
  /** Error shape of the first route at or below this node. */
  errorShape: ErrorShape;
}

/**
 * Builds the path table of the contract. The most specific route wins (a literal segment before a parameter). A path that no route names
 * goes to the owner of everything under its longest known prefix, so that a service's own 404 is answered there; where several
 * services share that prefix it goes nowhere. Throws where two services claim one path.
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
    mayCost: route.errors.includes('upstream_timeout_uncertain'),
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
