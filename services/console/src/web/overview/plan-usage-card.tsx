import type { Usage } from '@svc/contracts';
import type { ReactElement } from 'react';
import { Permitted, useMay } from '../access/index.ts';
import { useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import {
  currencyOf,
  EndingNotice,
  hasEnded,
  isEnding,
  StatusBadge,
  titleOf,
  toneOf,
  UsageMeters,
  usePlans,
} from '../subscription.tsx';
import { ButtonLink, Card, EmptyState, Loaded, Notice, useNow } from '../ui/index.ts';

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
        <Permitted to="getAlertSettings">
          <ButtonLink to="/usage/alerts" small>
            {shell.alerts}
          </ButtonLink>
        </Permitted>
      }
    >
      <Loaded query={usage} lines={4}>
        {(data) => <PlanUsage usage={data} />}
      </Loaded>
    </Card>
  );
};

const PlanUsage = ({ usage }: { usage: Usage }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { overview, plans: planTexts } = messages;
  const plans = usePlans();
  const current = useApiQuery('getSubscription', {});
  const may = useMay();
  const extra = useApiQuery('getExtraUsage', {}, { enabled: may('getExtraUsage') });
  const now = useNow();
  const { status, plan } = usage;
  const subscription = current.data?.subscription ?? null;
  if (status === null || plan === null || hasEnded(status)) {
    const title =
      subscription === null ? overview.noPlanTitle : titleOf(subscription, { plans: planTexts, formats, now });
    return (
      <EmptyState
        icon="plan"
        title={title}
        text={subscription === null ? overview.noPlanText : planTexts.statusHelp[subscription.status]}
        action={may('createCheckout') && <ButtonLink to="/plans">{overview.choosePlan}</ButtonLink>}
      />
    );
  }
  const isCapped = [usage.weekly, usage.monthly].some((window) => window !== null && window.used_percent >= 100);
  const cancel_at_period_end = subscription?.cancel_at_period_end ?? false;
  return (
    <>
      <p className="subscription">
        <strong>{plan.name}</strong> <StatusBadge subscription={{ status, cancel_at_period_end }} />
      </p>
      {subscription !== null && subscription.paid_by === null && isEnding({ status, cancel_at_period_end }) && (
        <EndingNotice end={subscription.current_period_end} />
      )}
      {toneOf(status) !== 'good' && subscription !== null && (
        <Notice tone="warn" title={titleOf(subscription, { plans: planTexts, formats, now })}>
          <p>{planTexts.statusHelp[status]}</p>
          <ButtonLink to="/plans" small>
            {overview.toPlan}
          </ButtonLink>
        </Notice>
      )}
      <UsageMeters usage={usage} extra={extra.data} currency={currencyOf(plans.data?.data, { plan })} />
      {isCapped && subscription?.paid_by === null && (
        <ButtonLink to="/plans" variant="primary" small>
          {overview.toLargerPlans}
        </ButtonLink>
      )}
      {usage.pending_requests > 0 && <p className="hint">{overview.pending(usage.pending_requests)}</p>}
    </>
  );
};
