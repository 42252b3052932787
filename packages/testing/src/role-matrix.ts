import { isRoleEnough, leastRole, newId, type Role, type RouteDefinition, roles, routes } from '@svc/contracts';
import type { TestTokens } from './test-tokens.ts';

/** For each operation, what each role gets: `allowed`, or the least role that may call it. */
export type RoleMatrix = Readonly<Record<string, Readonly<Record<Role, string>>>>;

type ServiceName = RouteDefinition['service'];

/** Returns the public routes of a service that ask for a role. */
const routesOf = (service: ServiceName) => {
  const all: readonly RouteDefinition[] = Object.values(routes);
  return all.flatMap((route) =>
    route.service === service && route.role !== undefined ? [{ ...route, role: route.role }] : [],
  );
};

const forEachRole = (resultOf: (role: Role) => string): Readonly<Record<Role, string>> => ({
  viewer: resultOf('viewer'),
  billing: resultOf('billing'),
  developer: resultOf('developer'),
  admin: resultOf('admin'),
  owner: resultOf('owner'),
});

/** Returns the matrix that the contract states for the routes of a service. */
export const roleMatrixOf = (service: ServiceName): RoleMatrix =>
  Object.fromEntries(
    routesOf(service).map(({ operationId, role: need }) => [
      operationId,
      forEachRole((role) => (isRoleEnough(role, need) ? 'allowed' : leastRole(need))),
    ]),
  );

/**
 * Calls each of these routes as each role, about things that do not exist. Returns the matrix that the service applies. Throws if
 * a service fails.
 */
export const callAsEachRole = async (
  service: ServiceName,
  { url, tokens }: { readonly url: string; readonly tokens: Pick<TestTokens, 'consoleSession'> },
): Promise<RoleMatrix> => {
  const id = newId('usr');
  const tokenOf = new Map<Role, string>();
  for (const role of roles) tokenOf.set(role, await tokens.consoleSession({ organization: { id, role } }));
  const matrix: Record<string, Readonly<Record<Role, string>>> = {};
  for (const { operationId, method, path } of routesOf(service)) {
    const address = `${url}${path.replaceAll(/\{\w+\}/g, 'unknown')}`;
    const results = new Map<Role, string>();
    for (const role of roles) results.set(role, await call(address, method, tokenOf.get(role) ?? ''));
    matrix[operationId] = forEachRole((role) => results.get(role) ?? '');
  }
  return matrix;
};

const call = async (address: string, method: string, token: string): Promise<string> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(address, { method, headers, ...(method === 'GET' ? {} : { body: '{}' }) });
  const text = await response.text();
  if (response.status >= 500 || response.status === 401) throw new Error(`${method} ${address}: ${response.status}`);
  const { detail } = text === '' ? { detail: undefined } : JSON.parse(text);
  return detail?.code === 'role_not_allowed' ? String(detail.required_role) : 'allowed';
};
