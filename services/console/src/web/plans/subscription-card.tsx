import type { Subscription } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { goTo, hasEnded, ownUrl, StatusBadge, toneOf } from '../subscription/index.ts';
import { Button, Card, ErrorNotice, Notice } from '../ui/index.ts';

/** Shows the subscription, the meaning of its state, and the link to the billing portal. */
export const SubscriptionCard = ({ subscription }: { subscription: Subscription }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { plans } = messages;
  const portal = useApiMutation('createPortalSession', { onDone: ({ url }) => goTo(url) });
  const { status, plan, current_period_start, current_period_end, cancel_at_period_end } = subscription;
  const end = formats.date(current_period_end);
  const help = plans.statusHelp[status];
  const open = (): void => portal.mutate({ body: { return_url: ownUrl('/plans') } });
  return (
    <Card
      title={plans.current}
      actions={
        <Button
          variant="primary"
          icon="external"
          busyLabel={portal.isPending || portal.isSuccess ? plans.opening : undefined}
          onClick={open}
        >
          {plans.manage}
        </Button>
      }
    >
      <p className="subscription">
        <strong>{plan.name}</strong> <StatusBadge subscription={subscription} />
      </p>
      <div>
        {!hasEnded(status) && <p>{cancel_at_period_end ? plans.ends(end) : plans.renews(end)}</p>}
        <p className="hint">{plans.period(formats.date(current_period_start), end)}</p>
      </div>
      {help !== '' && <Notice tone={toneOf(status) === 'good' ? 'info' : 'warn'}>{help}</Notice>}
      {portal.isError && <ErrorNotice error={portal.error} onRetry={open} />}
      <p className="hint">{plans.manageHint}</p>
    </Card>
  );
};
