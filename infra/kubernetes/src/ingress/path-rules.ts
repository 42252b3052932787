import type { RouteDefinition, ServiceName } from '@svc/contracts';

/**
 * Match of a path: `exact` and `prefix` (by whole segments) in plain text, `pattern` as an anchored regular expression.
 */
export interface PathRule {
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
export const rulePattern = ({ kind, path }: Pick<PathRule, 'kind' | 'path'>): string =>
  kind === 'pattern' ? path : pathPattern(path, kind);

/** Returns true if a rule matches a path, like the controllers; for tests. */
export const matchesRule = (rule: Pick<PathRule, 'kind' | 'path'>, path: string): boolean =>
  new RegExp(`^${rulePattern(rule)}$`).test(path);
