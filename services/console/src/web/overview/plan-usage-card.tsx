import type { Usage } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { currencyOf, EndingNotice, hasEnded, toneOf, UsageMeters, usePlans } from '../plans/index.ts';
import { Badge, ButtonLink, Card, EmptyState, Loaded, Notice } from '../ui/index.ts';

const REFRESH_MS = 30_000;

/** Use of the plan by connected apps, refreshed while the page is open. */
export const PlanUsageCard = (): ReactElement => {
  const { overview, alerts } = useI18n().messages;
  const usage = useApiQuery('getSubscriptionUsage', {}, { staleTime: 0, refetchInterval: () => REFRESH_MS });
  return (
    <Card
      title={overview.usageTitle}
      lead={overview.usageLead}
      actions={
        <ButtonLink to="/usage/alerts" small>
          {alerts.open}
        </ButtonLink>
      }
    >
      <Loaded query={usage} lines={4}>
        {(data) => <PlanUsage usage={data} />}
      </Loaded>
    </Card>
  );
};

const PlanUsage = ({ usage }: { usage: Usage }): ReactElement => {
  const { overview, plans: planTexts } = useI18n().messages;
  const plans = usePlans();
  const current = useApiQuery('getSubscription', {});
  const { status, plan } = usage;
  if (status === null || plan === null || hasEnded(status)) {
    return (
      <EmptyState
        title={overview.noPlanTitle}
        text={overview.noPlanText}
        action={
          <ButtonLink to="/plans" variant="primary">
            {overview.choosePlan}
          </ButtonLink>
        }
      />
    );
  }
  const subscription = current.data?.subscription ?? null;
  const isEnding = subscription?.cancel_at_period_end === true && toneOf(status) === 'good';
  return (
    <>
      <p className="subscription">
        <strong>{plan.name}</strong>{' '}
        {isEnding ? (
          <Badge tone="warn">{planTexts.ending}</Badge>
        ) : (
          <Badge tone={toneOf(status)}>{planTexts.statuses[status]}</Badge>
        )}
      </p>
      {isEnding && <EndingNotice end={subscription.current_period_end} />}
      {toneOf(status) !== 'good' && (
        <Notice tone="warn" title={overview.inactiveTitle}>
          <p>{planTexts.statusHelp[status]}</p>
          <ButtonLink to="/plans" small>
            {overview.toPlan}
          </ButtonLink>
        </Notice>
      )}
      <UsageMeters usage={usage} currency={currencyOf(plans.data?.data, { plan })} />
      <p className="hint">{overview.pending(usage.pending_requests, usage.max_pending_requests)}</p>
    </>
  );
};
