import type { ErrorShape, RouteDefinition } from '@svc/contracts';
import type { Binding } from './binding.ts';

/** Routes and bindings of a service at one path, by method. */
export interface PathEntry {
  /** In contract syntax: `/v1/x/{client_id}`. */
  readonly path: string;
  readonly routes: ReadonlyMap<string, RouteDefinition>;
  readonly bindings: ReadonlyMap<string, Binding>;
  /** True if pages of any origin may call the path. */
  readonly isCrossOrigin: boolean;
}

/**
 * Groups the contract's routes and the bindings of a service by path. Throws if a binding belongs to another service, is
 * repeated, or is not in the contract.
 */
export const createRouteTable = (contract: readonly RouteDefinition[], bindings: readonly Binding[]): PathEntry[] => {
  const entries = new Map<string, { routes: Map<string, RouteDefinition>; bindings: Map<string, Binding> }>();
  const entryAt = (path: string) => {
    const entry = entries.get(path) ?? { routes: new Map(), bindings: new Map() };
    entries.set(path, entry);
    return entry;
  };
  for (const route of contract) entryAt(route.path).routes.set(route.method, route);
  for (const binding of bindings) {
    const { operationId, method, path } = binding.route;
    const entry = entryAt(path);
    if (entry.routes.get(method)?.operationId !== operationId) {
      throw new Error(`${operationId} is not a route that this service owns`);
    }
    if (entry.bindings.has(method)) throw new Error(`${operationId} is bound twice`);
    entry.bindings.set(method, binding);
  }
  return [...entries].map(([path, entry]) => ({
    path,
    ...entry,
    isCrossOrigin: [...entry.routes.values()].some(({ crossOrigin }) => crossOrigin === true),
  }));
};

/** Returns the value of an `Allow` header: GET implies HEAD, and OPTIONS is always allowed. */
export const allowedMethods = (entry: PathEntry): string => {
  const methods = [...entry.routes.keys()];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
};

/** Returns the error shape for an unknown path: that of its neighbors, if they agree. */
export const shapeNear = (table: readonly PathEntry[], path: string): ErrorShape => {
  const prefix = firstSegments(path);
  const shapes = new Set(
    table
      .filter((entry) => firstSegments(entry.path) === prefix)
      .flatMap((entry) => [...entry.routes.values()].map((route) => route.errorShape)),
  );
  const [shape] = shapes;
  return shapes.size === 1 && shape !== undefined ? shape : 'detail';
};

/** Returns the entries at and below the longest folder of a path that has any. Folders deeper than all entries have none. */
export const entriesNear = (table: readonly PathEntry[], path: string): readonly PathEntry[] => {
  const depthMax = Math.max(0, ...table.map((entry) => entry.path.split('/').length));
  const segments = path.split('/', depthMax + 1);
  for (let depth = segments.length - 1; depth > 1; depth -= 1) {
    const folder = `${segments.slice(0, depth).join('/')}/`;
    const entries = table.filter((entry) => `${entry.path}/`.startsWith(folder));
    if (entries.length > 0) return entries;
  }
  return [];
};

const firstSegments = (path: string): string => path.split('/', 3).join('/');

export interface RouteMatch {
  readonly entry: PathEntry;
  /** Decodes the values of the path's parameters. Throws URIError if one cannot be decoded. */
  readonly readParams: () => Readonly<Record<string, string>>;
}

/** Finds the entry at a path. */
type MatchRoute = (path: string) => RouteMatch | undefined;

/** A path with parameters, and the places of their segments. */
interface Template {
  readonly entry: PathEntry;
  readonly parameters: readonly { readonly name: string; readonly at: number }[];
  /** True if the last parameter takes the rest of the path. */
  readonly takesRest: boolean;
}

/** A segment of the templates, with those that may follow it. */
interface Node {
  readonly fixed: Map<string, Node>;
  /** Follows if the segment is a parameter. */
  parameter: Node | undefined;
  /** Ends here. */
  whole: Template | undefined;
  /** Ends here with a parameter that takes the rest. */
  open: Template | undefined;
}

/**
 * Creates the look-up of a table. Letter case and a trailing slash count, a fixed segment goes before a parameter, and a
 * parameter is never empty.
 */
export const createRouteMatcher = (table: readonly PathEntry[]): MatchRoute => {
  const fixed = new Map<string, RouteMatch>();
  const root = createNode();
  for (const entry of table) {
    if (entry.path.includes('{')) plant(root, entry);
    else fixed.set(entry.path, { entry, readParams: () => ({}) });
  }
  return (path) => fixed.get(path) ?? matchTemplate(root, path.split('/'));
};

const createNode = (): Node => ({ fixed: new Map(), parameter: undefined, whole: undefined, open: undefined });

const plant = (root: Node, entry: PathEntry): void => {
  const segments = entry.path.split('/');
  const parameters = segments.flatMap((segment, at) =>
    segment.startsWith('{') ? [{ name: segment.slice(1, -1), at }] : [],
  );
  const takesRest = [...entry.routes.values()].some((route) => route.takesRest === true);
  let node = root;
  for (const segment of takesRest ? segments.slice(0, -1) : segments) node = follow(node, segment);
  node[takesRest ? 'open' : 'whole'] = { entry, parameters, takesRest };
};

const follow = (node: Node, segment: string): Node => {
  const isParameter = segment.startsWith('{');
  const next = (isParameter ? node.parameter : node.fixed.get(segment)) ?? createNode();
  if (isParameter) node.parameter = next;
  else node.fixed.set(segment, next);
  return next;
};

const matchTemplate = (root: Node, segments: readonly string[]): RouteMatch | undefined => {
  const template = find(root, segments, 0);
  return template && { entry: template.entry, readParams: () => readParams(template, segments) };
};

const find = (node: Node, segments: readonly string[], at: number): Template | undefined => {
  const segment = segments[at];
  if (segment === undefined) return node.whole;
  const { parameter } = node;
  const next = node.fixed.get(segment);
  return (
    (next && find(next, segments, at + 1)) ??
    (segment !== '' && parameter ? find(parameter, segments, at + 1) : undefined) ??
    // The rest is not empty, but its segments may be.
    (segment !== '' || at < segments.length - 1 ? node.open : undefined)
  );
};

const readParams = (
  { parameters, takesRest }: Template,
  segments: readonly string[],
): Readonly<Record<string, string>> => {
  const params: Record<string, string> = {};
  for (const [place, { name, at }] of parameters.entries()) {
    const isRest = takesRest && place === parameters.length - 1;
    params[name] = decodeURIComponent(isRest ? segments.slice(at).join('/') : (segments[at] ?? ''));
  }
  return params;
};
