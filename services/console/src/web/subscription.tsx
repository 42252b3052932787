import type { ExtraUsage, Plan, Subscription, SubscriptionStatus, Usage } from '@svc/contracts';
import type { ReactElement } from 'react';
import { Permitted } from './access/index.ts';
import { useApiMutation, useApiQuery } from './api/index.ts';
import { type CoreMessages, type Formats, useCoreI18n } from './i18n/index.ts';
import { ownUrl } from './organization-address.ts';
import { Badge, Button, ErrorNotice, Notice, type Tone, UsageMeter, useNow } from './ui/index.ts';

/** Sends the browser to an address. Tests replace it. */
type Assign = (url: string) => void;

/** Shows the end of a cancelled subscription, with a link to resume it. */
export const EndingNotice = ({ end }: { end: string }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { plans } = messages;
  const portal = useApiMutation('createPortalSession', { onDone: ({ url }) => goTo(url) });
  const open = (): void => portal.mutate({ body: { return_url: ownUrl('/') } });
  return (
    <>
      <Notice title={plans.endsTitle(formats.date(end))}>
        <p>{plans.endsText}</p>
        <Permitted to="createPortalSession">
          <Button small busyLabel={portal.isPending || portal.isSuccess ? plans.opening : undefined} onClick={open}>
            {plans.resume}
          </Button>
        </Permitted>
      </Notice>
      {portal.isError && <ErrorNotice error={portal.error} onRetry={open} />}
    </>
  );
};

/** Redirects the browser to a hosted page of the payment provider. Throws for anything but a web address. */
export const goTo = (url: string, assign: Assign = (target) => window.location.assign(target)): void => {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('not a web address');
  assign(url);
};

/** States in which another subscription can be bought. */
const ENDED: ReadonlySet<SubscriptionStatus> = new Set(['canceled', 'unpaid', 'incomplete_expired']);

/** Returns true if the subscription has ended, so that another plan can be chosen. */
export const hasEnded = (status: SubscriptionStatus): boolean => ENDED.has(status);

/** Returns the tone of a state. */
export const toneOf = (status: SubscriptionStatus): Tone => {
  switch (status) {
    case 'active':
    case 'trialing':
      return 'good';
    case 'past_due':
    case 'incomplete':
    case 'paused':
      return 'warn';
    case 'canceled':
    case 'unpaid':
    case 'incomplete_expired':
      return 'bad';
  }
};

/** Returns true for a subscription that is paid for, and was cancelled for the end of its period. */
export const isEnding = ({
  status,
  cancel_at_period_end,
}: Pick<Subscription, 'status' | 'cancel_at_period_end'>): boolean => cancel_at_period_end && toneOf(status) === 'good';

/** Returns true if the current period of a subscription is paid. */
export const isPaid = (status: SubscriptionStatus): boolean => status === 'active';

/** Describes a state that is not good, with its date, in a title. */
export const titleOf = (
  { status, current_period_start: start, current_period_end: end }: Subscription,
  { plans, formats, now }: { plans: CoreMessages['plans']; formats: Formats; now: Date },
): string =>
  // A subscription cancelled at once ended before its period did, and its day is not known.
  status === 'canceled' && new Date(end) > now
    ? plans.hasEnded
    : plans.statusTitles[status](formats.date(start), formats.date(end));

/** State of a subscription in a word. */
export const StatusBadge = ({
  subscription,
}: {
  subscription: Pick<Subscription, 'status' | 'cancel_at_period_end'>;
}): ReactElement => {
  const { plans } = useCoreI18n().messages;
  const { status } = subscription;
  return isEnding(subscription) ? (
    <Badge tone="warn">{plans.ending}</Badge>
  ) : (
    <Badge tone={toneOf(status)}>{plans.statuses[status]}</Badge>
  );
};

/**
 * Shows weekly and monthly use against their caps, and extra use against its ceiling if that is on, with the reset times.
 * Renders nothing without a subscription.
 */
export const UsageMeters = ({
  usage,
  extra,
  currency,
}: {
  usage: Usage;
  /** Undefined until it is known. */
  extra: ExtraUsage | undefined;
  currency: string;
}): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const now = useNow();
  const { overview } = messages;
  const extraWindow = extra?.enabled === true ? windowOf(extra) : null;
  const windows = [
    { label: overview.weekly, window: usage.weekly },
    { label: overview.monthly, window: usage.monthly },
    { label: overview.extra, window: extraWindow },
  ];
  const canGoOn = extraWindow !== null && extraWindow.used_percent < 100;
  const reached = canGoOn ? overview.reachedExtra : overview.reached;
  return (
    <div className="meters">
      {windows.map(({ label, window }) => {
        if (window === null) return null;
        const { used_percent, used_micros, limit_micros, resets_at } = window;
        const resets = overview.resets(formats.relative(resets_at, now), formats.dateTime(resets_at));
        return (
          <UsageMeter
            key={label}
            label={label}
            percent={used_percent}
            percentText={formats.usedPercent(used_percent, used_micros)}
            text={overview.usedOf(
              formats.shortMoney(used_micros, currency),
              formats.shortMoney(limit_micros, currency),
            )}
            exact={overview.usedOf(formats.money(used_micros, currency), formats.money(limit_micros, currency))}
            note={used_percent >= 100 ? `${reached} ${resets}` : resets}
          />
        );
      })}
    </div>
  );
};

/** Returns extra use as a window. */
const windowOf = ({ used_micros, monthly_max_micros, resets_at }: ExtraUsage): NonNullable<Usage['weekly']> => ({
  used_percent: monthly_max_micros === 0 ? 100 : Math.min(100, Math.floor((used_micros / monthly_max_micros) * 100)),
  used_micros,
  limit_micros: monthly_max_micros,
  resets_at,
});

/** Currency of the product, if no plan names one. */
const CURRENCY = 'EUR';

/** Returns the currency of a subscription's caps: that of its plan. */
export const currencyOf = (
  plans: readonly Plan[] | undefined,
  subscription: Pick<Subscription, 'plan'> | null,
): string => (plans?.find(({ id }) => id === subscription?.plan.id) ?? plans?.[0])?.price.currency ?? CURRENCY;

/** Reads the plans on offer, which rarely change. */
export const usePlans = () => useApiQuery('listPlans', {}, { staleTime: 5 * 60_000 });

/** Reads the prices of inference, which change with the operator's files. */
export const usePrices = () => useApiQuery('listPrices', {}, { staleTime: 5 * 60_000 });
