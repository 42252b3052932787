import { serviceOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { RoutesFileOptions, RoutesInForce } from './open-routes-file.ts';
import { parseRoutesFile, RoutesFileError } from './parse-routes-file.ts';

export interface RoutesOperatorDeps extends Pick<RoutesFileOptions, 'providerKey' | 'clock'> {
  readonly routes: RoutesInForce;
}

/** Binds the operator's routes for the routes file, in the internal application. */
export const routesOperatorRoutes = (deps: RoutesOperatorDeps): Binding[] => [
  bind(serviceOperations.checkRoutesFile, async ({ body }) => ({
    status: 200,
    body: { faults: faultsOf(body.text, deps) },
  })),
  bind(serviceOperations.reloadRoutes, async () => ({ status: 200, body: { loaded: await deps.routes.reload() } })),
];

const faultsOf = (text: string, { providerKey, clock }: RoutesOperatorDeps): readonly string[] => {
  try {
    parseRoutesFile(text, { nowMs: clock(), providerKey });
    return [];
  } catch (error) {
    if (error instanceof RoutesFileError) return error.faults;
    throw error;
  }
};
