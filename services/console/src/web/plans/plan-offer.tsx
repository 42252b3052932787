import type { Plan } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { goTo, ownUrl } from '../subscription/index.ts';
import { Badge, Button, ErrorNotice, Icon } from '../ui/index.ts';

/** Shows a plan with its checkout button. `canChoose` is false while another subscription is live. */
export const PlanOffer = ({
  plan,
  isCurrent,
  canChoose,
}: {
  plan: Plan;
  isCurrent: boolean;
  canChoose: boolean;
}): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { plans } = messages;
  const checkout = useApiMutation('createCheckout', { onDone: ({ url }) => goTo(url) });
  const { price, services, weekly_limit_micros, monthly_limit_micros } = plan;
  const start = (): void =>
    checkout.mutate({
      body: { plan_id: plan.id, success_url: ownUrl('/plans/return'), cancel_url: ownUrl('/plans?cancelled=1') },
    });
  return (
    <li className={isCurrent ? 'plan plan-current' : 'plan'}>
      <h3>
        {plan.name} {isCurrent && <Badge tone="good">{plans.chosen}</Badge>}
      </h3>
      <p className="hint">{plan.description}</p>
      <p className="price">
        <span>{formats.money(price.amount_micros, price.currency)}</span>{' '}
        {price.interval === 'month' ? plans.perMonth : plans.perYear}
      </p>
      <ul className="features">
        <Feature isIncluded>{plans.weeklyLimit(formats.money(weekly_limit_micros, price.currency))}</Feature>
        <Feature isIncluded>{plans.monthlyLimit(formats.money(monthly_limit_micros, price.currency))}</Feature>
        <Feature isIncluded={services.chat}>{plans.chat}</Feature>
        <Feature isIncluded={services.audio_transcription}>{plans.audio}</Feature>
      </ul>
      {checkout.isError && <ErrorNotice error={checkout.error} onRetry={start} />}
      {canChoose && (
        <Button
          variant="primary"
          busyLabel={checkout.isPending || checkout.isSuccess ? plans.opening : undefined}
          onClick={start}
        >
          {plans.choose(plan.name)}
        </Button>
      )}
    </li>
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
