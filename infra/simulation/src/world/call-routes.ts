import type { RouteDefinition } from '@svc/contracts';
import type { Binding } from '@svc/service-kit';

export interface RouteInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly caller?: unknown;
}

/** Calls the handlers of a service's routes without HTTP. */
export type CallRoute = (route: RouteDefinition, input: RouteInput) => Promise<unknown>;

/** Creates the function that calls these bindings and returns the body of the reply. */
export const createCaller = (bindings: readonly Binding[]): CallRoute => {
  const byRoute = new Map(bindings.map((binding) => [binding.route, binding]));
  return async (route, { params = {}, body, caller = { kind: 'service', name: 'inference-gateway' } }) => {
    const binding = byRoute.get(route);
    if (binding === undefined) throw new Error(`no handler is bound to ${route.path}`);
    // The handlers of these routes read parameters, body and caller, and no other part of a request.
    const reply = await binding.handle({ params, body, caller, query: {}, headers: {} } as unknown as Parameters<
      Binding['handle']
    >[0]);
    return typeof reply === 'object' ? reply.body : undefined;
  };
};
