import type { Subscription } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { isAwaited, useApiQuery } from '../api/index.ts';
import { ExtraUsageCard } from '../extra-usage/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { InvoicesCard } from '../invoices/index.ts';
import { currencyOf, hasEnded, usePlans, usePrices } from '../subscription/index.ts';
import { ButtonLink, Card, EmptyState, Loaded, Notice, Page } from '../ui/index.ts';
import { PlanOffer } from './plan-offer.tsx';
import { readReturnTarget } from './return-target.ts';
import { SubscriptionCard } from './subscription-card.tsx';

/** Shows the subscription of the account, and the plans on offer. */
export const PlansPage = (): ReactElement => {
  const { messages, locale } = useCoreI18n();
  const { plans } = messages;
  const [search] = useSearchParams();
  const current = useApiQuery('getSubscription', {}, { staleTime: 0 });
  const offer = usePlans();
  const prices = usePrices();
  const subscription = current.data?.subscription ?? null;
  const returnTarget = readReturnTarget(search);
  const isLive = subscription !== null && !hasEnded(subscription.status);
  return (
    <Page title={plans.title} lead={plans.lead}>
      {returnTarget !== undefined && (
        <Notice>
          <p>{isLive ? plans.backWithPlan : plans.backAfterwards}</p>
          <ButtonLink to={returnTarget} leavesConsole>
            {plans.backToRequest}
          </ButtonLink>
        </Notice>
      )}
      {search.has('cancelled') && <Notice>{plans.cancelled}</Notice>}
      {/* The plans below wait for the height of the subscription, so that nothing moves. */}
      <Loaded query={current} lines={6}>
        {() => subscription !== null && <SubscriptionCard subscription={subscription} />}
      </Loaded>
      {isLive && (
        <Permitted to="getExtraUsage">
          <ExtraUsageCard currency={currencyOf(offer.data?.data, subscription)} />
        </Permitted>
      )}
      {!current.isPending && !isAwaited(prices) && (
        <Card
          title={plans.offer}
          lead={isLive && subscription.paid_by === null ? plans.changeInPortal : undefined}
          actions={
            <ButtonLink to={`/prices?locale=${locale}`} leavesConsole small>
              {plans.allPrices}
            </ButtonLink>
          }
        >
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
                      delegated={prices.data?.delegated}
                      isCurrent={isLive && plan.id === subscription.plan.id}
                      returnTarget={returnTarget}
                      way={current.isSuccess ? wayOf(subscription) : undefined}
                    />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </Card>
      )}
      {!current.isPending && (
        <Permitted to="listInvoices">
          <InvoicesCard />
        </Permitted>
      )}
    </Page>
  );
};

/** Returns how the person changes plan; undefined while an organization pays it. */
const wayOf = (subscription: Subscription | null): 'checkout' | 'portal' | undefined => {
  if (subscription === null || hasEnded(subscription.status)) return 'checkout';
  return subscription.paid_by === null ? 'portal' : undefined;
};
