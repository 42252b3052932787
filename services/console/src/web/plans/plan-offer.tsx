import type { Plan, PriceList } from '@svc/contracts';
import { estimatePlanUse, planDescription } from '@svc/contracts/estimate-plan-use';
import type { ReactElement } from 'react';
import { Permitted } from '../access/index.ts';
import { useApiMutation } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { ownUrl } from '../organization-address.ts';
import { goTo } from '../subscription.tsx';
import { Badge, Button, ErrorNotice, Icon } from '../ui/index.ts';
import { withReturnTarget } from './return-page.tsx';

/** Shows a plan with its button: to the checkout, or to the billing portal while another subscription is live. */
export const PlanOffer = ({
  plan,
  delegated,
  isCurrent,
  way,
  returnTarget,
}: {
  plan: Plan;
  /** Undefined if the prices could not be read. */
  delegated: PriceList['delegated'] | undefined;
  isCurrent: boolean;
  /** Undefined until the subscription is known, and while an organization pays it. */
  way: 'checkout' | 'portal' | undefined;
  /** Page that asked for a plan, to which the checkout leads back. */
  returnTarget: string | undefined;
}): ReactElement => {
  const { messages, formats, locale } = useCoreI18n();
  const { plans } = messages;
  const checkout = useApiMutation('createCheckout', { onDone: ({ url }) => goTo(url) });
  const { price, services, weekly_limit_micros, monthly_limit_micros } = plan;
  const start = (): void =>
    checkout.mutate({
      body: {
        plan_id: plan.id,
        success_url: withReturnTarget(ownUrl('/plans/return'), returnTarget),
        cancel_url: withReturnTarget(ownUrl('/plans?cancelled=1'), returnTarget),
      },
    });
  return (
    <li className={isCurrent ? 'plan plan-current' : 'plan'}>
      <h3>
        {plan.name} {isCurrent && <Badge tone="good">{plans.chosen}</Badge>}
      </h3>
      <p className="hint">{planDescription(plan, locale)}</p>
      <p className="price">
        <span>{formats.money(price.amount_micros, price.currency)}</span>{' '}
        {price.interval === 'month' ? plans.perMonth : plans.perYear}
      </p>
      {delegated !== undefined && <Estimate plan={plan} delegated={delegated} />}
      <ul className="features">
        <Feature isIncluded>{plans.weeklyLimit(formats.money(weekly_limit_micros, price.currency))}</Feature>
        <Feature isIncluded>{plans.monthlyLimit(formats.money(monthly_limit_micros, price.currency))}</Feature>
        <Feature isIncluded={services.chat}>{plans.chat}</Feature>
        <Feature isIncluded={services.audio_transcription}>{plans.audio}</Feature>
      </ul>
      {checkout.isError && <ErrorNotice error={checkout.error} onRetry={start} />}
      {way === 'portal' && !isCurrent && (
        <Permitted to="createPortalSession">
          <SwitchButton name={plan.name} />
        </Permitted>
      )}
      {way === 'checkout' && (
        <Permitted to="createCheckout">
          <Button
            variant="primary"
            busyLabel={checkout.isPending || checkout.isSuccess ? plans.opening : undefined}
            onClick={start}
          >
            {plans.choose(plan.name)}
          </Button>
        </Permitted>
      )}
    </li>
  );
};

const MINUTES_PER_HOUR = 60;

/** Says what the month's limit pays for, in words that people know. */
const Estimate = ({ plan, delegated }: { plan: Plan; delegated: PriceList['delegated'] }): ReactElement | null => {
  const { messages, formats } = useCoreI18n();
  const { plans } = messages;
  const { shortChats, audioMinutes } = estimatePlanUse(plan, delegated);
  const audio = (minutes: number): string =>
    minutes < 2 * MINUTES_PER_HOUR
      ? plans.audioMinutes(formats.number(minutes))
      : plans.audioHours(formats.number(Math.floor(minutes / MINUTES_PER_HOUR)));
  const uses = [
    ...(shortChats === undefined ? [] : [plans.shortChats(formats.number(shortChats))]),
    ...(audioMinutes === undefined ? [] : [audio(audioMinutes)]),
  ];
  return uses.length === 0 ? null : (
    <p>
      {plans.aboutAMonth(uses.join(` ${plans.or} `))} <span className="hint">{plans.estimated}</span>
    </p>
  );
};

/** Leads to the billing portal, where the person confirms the change. */
const SwitchButton = ({ name }: { name: string }): ReactElement => {
  const { plans } = useCoreI18n().messages;
  const portal = useApiMutation('createPortalSession', { onDone: ({ url }) => goTo(url) });
  const open = (): void => portal.mutate({ body: { return_url: ownUrl('/plans') } });
  return (
    <>
      {portal.isError && <ErrorNotice error={portal.error} onRetry={open} />}
      <Button
        icon="external"
        busyLabel={portal.isPending || portal.isSuccess ? plans.opening : undefined}
        onClick={open}
      >
        {plans.switchTo(name)}
      </Button>
    </>
  );
};

const Feature = ({ isIncluded, children }: { isIncluded: boolean; children: string }): ReactElement => {
  const { plans } = useCoreI18n().messages;
  return (
    <li className={isIncluded ? '' : 'feature-missing'}>
      <Icon name={isIncluded ? 'check' : 'minus'} />
      <span>{isIncluded ? children : `${children}: ${plans.notIncluded}`}</span>
    </li>
  );
};
