import type { Usage } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import {
  currencyOf,
  EndingNotice,
  hasEnded,
  isEnding,
  StatusBadge,
  toneOf,
  UsageMeters,
  usePlans,
} from '../subscription/index.ts';
import { ButtonLink, Card, EmptyState, Loaded, Notice } from '../ui/index.ts';

const REFRESH_MS = 30_000;

/** Shows the use of the plan by connected apps, refreshed while the page is open. */
export const PlanUsageCard = (): ReactElement => {
  const { overview, shell } = useCoreI18n().messages;
  const usage = useApiQuery('getSubscriptionUsage', {}, { staleTime: 0, refetchInterval: () => REFRESH_MS });
  return (
    <Card
      title={overview.usageTitle}
      lead={overview.usageLead}
      actions={
        <ButtonLink to="/usage/alerts" small>
          {shell.alerts}
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
  const { overview, plans: planTexts } = useCoreI18n().messages;
  const plans = usePlans();
  const current = useApiQuery('getSubscription', {});
  const { status, plan } = usage;
  if (status === null || plan === null || hasEnded(status)) {
    return (
      <EmptyState
        icon="plan"
        title={overview.noPlanTitle}
        text={overview.noPlanText}
        action={<ButtonLink to="/plans">{overview.choosePlan}</ButtonLink>}
      />
    );
  }
  const subscription = current.data?.subscription ?? null;
  const cancel_at_period_end = subscription?.cancel_at_period_end ?? false;
  return (
    <>
      <p className="subscription">
        <strong>{plan.name}</strong> <StatusBadge subscription={{ status, cancel_at_period_end }} />
      </p>
      {subscription !== null && isEnding({ status, cancel_at_period_end }) && (
        <EndingNotice end={subscription.current_period_end} />
      )}
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
