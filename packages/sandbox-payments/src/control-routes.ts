import { routes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { advanceSubscription, type SandboxView, updateSettings } from './advance-subscription.ts';
import type { SandboxDeps } from './announce-changes.ts';
import { playStatus } from './play-status.ts';

export interface ControlDeps extends SandboxDeps {
  /** Finds the sandbox's id of one of the host's subscriptions. */
  readonly findProviderId: (subscriptionId: string) => Promise<string | undefined>;
}

/** Routes that play states, set cards and move clocks. */
export const controlRoutes = (deps: ControlDeps): Binding[] => {
  const providerIdOf = async (id: string): Promise<string> => {
    const providerId = await deps.findProviderId(id);
    if (providerId === undefined) throw new AppError('not_found');
    return providerId;
  };
  const replyWith = (id: string, view: SandboxView) => ({ status: 200 as const, body: { id, ...view } });
  return [
    bind(routes.playSandboxSubscription, async ({ params: { subscription_id: id }, body }) => {
      const status = await playStatus(deps, await providerIdOf(id), body.status);
      return { status: 200, body: { id, status } };
    }),
    bind(routes.updateSandboxSubscription, async ({ params: { subscription_id: id }, body }) =>
      replyWith(id, await updateSettings(deps, await providerIdOf(id), body)),
    ),
    bind(routes.advanceSandboxSubscription, async ({ params: { subscription_id: id }, body }) =>
      replyWith(id, await advanceSubscription(deps, await providerIdOf(id), body.seconds)),
    ),
  ];
};
