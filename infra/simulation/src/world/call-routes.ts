import { Readable } from 'node:stream';
import type { RouteDefinition } from '@svc/contracts';
import { Act, type Binding } from '@svc/service-kit';

export interface RouteInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly caller?: unknown;
  /** Body and headers as they were sent, for a route that reads them itself. */
  readonly raw?: { readonly body: string; readonly headers: Readonly<Record<string, string>> };
}

/** Acts of people who act for no organization stand in no log. */
const OF_PERSON = { organizationId: null, actorId: '', source: 'console' } as const;

/** Calls the handlers of a service's routes without HTTP. */
export type CallRoute = (route: RouteDefinition, input: RouteInput) => Promise<unknown>;

/** Creates the function that calls these bindings and returns the body of the reply. */
export const createCaller = (bindings: readonly Binding[]): CallRoute => {
  const byRoute = new Map(bindings.map((binding) => [binding.route, binding]));
  return async (route, { params = {}, body, caller = { kind: 'service', name: 'inference-gateway' }, raw }) => {
    const binding = byRoute.get(route);
    if (binding === undefined) throw new Error(`no handler is bound to ${route.path}`);
    const req = raw && Object.assign(Readable.from([Buffer.from(raw.body)]), { headers: raw.headers });
    // The handlers of these routes read no other part of a request.
    const act = route.audit == null ? undefined : new Act(route.audit, OF_PERSON);
    const request = {
      params,
      body,
      caller,
      act,
      query: {},
      headers: {},
      req,
      nameRequests: () => undefined,
    } as unknown;
    try {
      const reply = await binding.handle(request as Parameters<Binding['handle']>[0]);
      return typeof reply === 'object' ? reply.body : undefined;
    } catch (error) {
      // No retry of a caller may hide a mistake of the code: it ends the simulation.
      if (error instanceof TypeError || error instanceof ReferenceError) {
        queueMicrotask(() => {
          throw error;
        });
      }
      throw error;
    }
  };
};
