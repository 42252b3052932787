import type { Subscription } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { isAwaited, useApiMutation, useApiQuery } from '../api/index.ts';
import { ExtraUsageCard } from '../extra-usage.tsx';
import { useCoreI18n } from '../i18n/index.ts';
import { InvoicesCard } from '../invoices-card.tsx';
import { ownUrl } from '../organization-address.ts';
import {
  currencyOf,
  goTo,
  hasEnded,
  isPaid,
  StatusBadge,
  titleOf,
  toneOf,
  usePlans,
  usePrices,
} from '../subscription.tsx';
import { Button, ButtonLink, Card, EmptyState, ErrorNotice, Loaded, Notice, Page, useNow } from '../ui/index.ts';
import { PlanOffer } from './plan-offer.tsx';
import { readReturnTarget } from './return-page.tsx';

/** Shows the subscription, the meaning of its state, and the link to the billing portal. */
const SubscriptionCard = ({ subscription }: { subscription: Subscription }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { plans } = messages;
  const portal = useApiMutation('createPortalSession', { onDone: ({ url }) => goTo(url) });
  const { status, plan, paid_by: payer, current_period_start, current_period_end, cancel_at_period_end } = subscription;
  const end = formats.date(current_period_end);
  const now = useNow();
  const isOver = hasEnded(status);
  const period = isPaid(status) ? plans.paidPeriod : plans.period;
  const open = (): void => portal.mutate({ body: { return_url: ownUrl('/plans') } });
  return (
    <Card
      title={isOver ? plans.last : plans.current}
      actions={
        payer === null && (
          <Permitted to="createPortalSession">
            <Button
              variant={isOver ? 'secondary' : 'primary'}
              icon="external"
              busyLabel={portal.isPending || portal.isSuccess ? plans.opening : undefined}
              onClick={open}
            >
              {plans.manage}
            </Button>
          </Permitted>
        )
      }
    >
      <p className="subscription">
        <strong>{plan.name}</strong> <StatusBadge subscription={subscription} />
      </p>
      {payer !== null && <p>{plans.paidBy(payer.name ?? payer.organization_id)}</p>}
      <div>
        {toneOf(status) === 'good' && <p>{cancel_at_period_end ? plans.ends(end) : plans.renews(end)}</p>}
        <p className="hint">{period(formats.date(current_period_start), end)}</p>
      </div>
      {toneOf(status) !== 'good' && (
        <Notice tone="warn" title={titleOf(subscription, { plans, formats, now })}>
          <p>{plans.statusHelp[status]}</p>
        </Notice>
      )}
      {portal.isError && <ErrorNotice error={portal.error} onRetry={open} />}
      {payer === null && <p className="hint">{isOver ? plans.lastHint : plans.manageHint}</p>}
    </Card>
  );
};

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
