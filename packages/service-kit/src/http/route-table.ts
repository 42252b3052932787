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
