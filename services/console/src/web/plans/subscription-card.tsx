import type { Subscription } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Badge, Button, Card, ErrorNotice, Notice } from '../ui/index.ts';
import { goTo, ownUrl } from './go-to.ts';
import { hasEnded, toneOf } from './subscription-status.ts';

/** The subscription, what its state means, and the way to the billing portal. */
export const SubscriptionCard = ({ subscription }: { subscription: Subscription }): ReactElement => {
  const { messages, formats } = useI18n();
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
        <strong>{plan.name}</strong> <Badge tone={toneOf(status)}>{plans.statuses[status]}</Badge>
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
