import type { ErrorShape, RouteDefinition } from '@svc/contracts';
import type { Binding } from './binding.ts';

/** Routes and bindings of a service at one path, by method. */
export interface PathEntry {
  /** In contract syntax: `/v1/x/{client_id}`. */
  readonly path: string;
  readonly routes: ReadonlyMap<string, RouteDefinition>;
  readonly bindings: ReadonlyMap<string, Binding>;
}

/**
 * Groups the contract's routes and the bindings of a service by path, fixed segments before parameters. Throws if a
 * binding belongs to another service, is repeated, or is not in the contract.
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
  return [...entries].map(([path, entry]) => ({ path, ...entry })).sort((a, b) => compare(a.path, b.path));
};

const compare = (a: string, b: string): number => specificity(b).localeCompare(specificity(a)) || a.localeCompare(b);

/** Sort key by segments: at the first difference, a fixed segment comes before a parameter. */
const specificity = (path: string): string =>
  path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '0' : '1'))
    .join('');

/** Converts `/v1/x/{client_id}` to Express syntax: `/v1/x/:client_id`. */
export const toExpressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Returns the value of an `Allow` header: GET implies HEAD, and OPTIONS is always allowed. */
export const allowedMethods = (entry: PathEntry): string => {
  const methods = [...entry.routes.keys()];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
};

/** Returns the error shape of the route at a path, or of its neighbors if there is no route. */
export const shapeAt = (table: readonly PathEntry[], path: string): ErrorShape => {
  const entry = table.find((each) => fits(each.path, path));
  const [route] = entry?.routes.values() ?? [];
  return route?.errorShape ?? shapeNear(table, path);
};

const fits = (template: string, path: string): boolean => {
  const segments = path.split('/');
  const wanted = template.split('/');
  return (
    segments.length === wanted.length &&
    wanted.every((segment, index) => segment.startsWith('{') || segment === segments[index])
  );
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

/** Returns the entries at and below the longest folder of a path that has any. */
export const entriesNear = (table: readonly PathEntry[], path: string): readonly PathEntry[] => {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end + 1);
    const entries = table.filter((entry) => `${entry.path}/`.startsWith(folder));
    if (entries.length > 0) return entries;
  }
  return [];
};

const firstSegments = (path: string): string => path.split('/', 3).join('/');
