import type { ErrorShape, RouteDefinition } from '@svc/contracts';
import type { Binding } from './binding.ts';

/** All that a service has at one path, by method. */
export interface PathEntry {
  /** As the contract writes it: `/v1/x/{client_id}`. */
  path: string;
  routes: ReadonlyMap<string, RouteDefinition>;
  bindings: ReadonlyMap<string, Binding>;
}

/**
 * Groups the contract's routes and the bindings of a service by path, fixed segments before parameters. Throws on a binding
 * of another service's route, on one that is bound twice, and on one that is not in the contract.
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

/** Sorts by segments: at the first difference, a fixed segment comes before a parameter. */
const specificity = (path: string): string =>
  path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '0' : '1'))
    .join('');

/** `/v1/x/{client_id}` as Express writes it: `/v1/x/:client_id`. */
export const toExpressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** The value of an `Allow` header: GET brings HEAD along, and OPTIONS is always answered. */
export const allowedMethods = (entry: PathEntry): string => {
  const methods = [...entry.routes.keys()];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
};

/** The error shape of the route at a path, or of its neighbours where there is no route. */
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

/** The shape in which errors at an unknown path go out: that of its neighbours, where they all agree. */
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

const firstSegments = (path: string): string => path.split('/', 3).join('/');
