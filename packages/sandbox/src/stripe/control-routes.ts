import { sandboxRoutes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { Account } from './account.ts';
import { advanceSubscription, type SubscriptionView, updateSettings } from './advance-subscription.ts';
import { playStatus } from './play-status.ts';
import { findSubscription } from './subscriptions.ts';

/** Routes that play states, set cards and move clocks. */
export const controlRoutes = (account: Account): Binding[] => {
  const stripeIdOf = (id: string): string => {
    const subscription = findSubscription(account, id);
    if (subscription === undefined) throw new AppError('not_found');
    return subscription.id;
  };
  const replyWith = (id: string, view: SubscriptionView) => ({ status: 200 as const, body: { id, ...view } });
  return [
    bind(sandboxRoutes.playSandboxSubscription, async ({ params: { subscription_id: id }, body }) => {
      const status = await playStatus(account, stripeIdOf(id), body.status);
      return { status: 200, body: { id, status } };
    }),
    bind(sandboxRoutes.updateSandboxSubscription, async ({ params: { subscription_id: id }, body }) =>
      replyWith(id, updateSettings(account, stripeIdOf(id), body)),
    ),
    bind(sandboxRoutes.advanceSandboxSubscription, async ({ params: { subscription_id: id }, body }) =>
      replyWith(id, await advanceSubscription(account, stripeIdOf(id), body.seconds)),
    ),
  ];
};
