import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { InvoicesCard } from '../invoices/index.ts';
import { hasEnded, usePlans } from '../subscription/index.ts';
import { Card, EmptyState, Loaded, Notice, Page } from '../ui/index.ts';
import { PlanOffer } from './plan-offer.tsx';
import { SubscriptionCard } from './subscription-card.tsx';

/** Shows the subscription of the account, and the plans on offer. */
export const PlansPage = (): ReactElement => {
  const { plans } = useCoreI18n().messages;
  const [search] = useSearchParams();
  const current = useApiQuery('getSubscription', {}, { staleTime: 0 });
  const offer = usePlans();
  const subscription = current.data?.subscription ?? null;
  const isLive = subscription !== null && !hasEnded(subscription.status);
  return (
    <Page title={plans.title} lead={plans.lead}>
      {search.has('cancelled') && <Notice>{plans.cancelled}</Notice>}
      <Loaded query={current}>{() => subscription !== null && <SubscriptionCard subscription={subscription} />}</Loaded>
      <Card title={plans.offer} lead={isLive ? plans.changeInPortal : undefined}>
        <Loaded query={offer} lines={6}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon="plan" title={plans.noPlansTitle} text={plans.noPlansText} />
            ) : (
              <ul className="plans">
                {data.map((plan) => (
                  <PlanOffer
                    key={plan.id}
                    plan={plan}
                    isCurrent={isLive && plan.id === subscription.plan.id}
                    canChoose={current.isSuccess && !isLive}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Card>
      <InvoicesCard />
    </Page>
  );
};
