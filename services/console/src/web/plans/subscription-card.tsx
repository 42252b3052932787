import type { Subscription } from '@svc/contracts';
import type { ReactElement } from 'react';
import { Permitted } from '../access/index.ts';
import { useApiMutation } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { ownUrl } from '../organization-address.ts';
import { goTo, hasEnded, isPaid, StatusBadge, titleOf, toneOf } from '../subscription/index.ts';
import { Button, Card, ErrorNotice, Notice, useNow } from '../ui/index.ts';

/** Shows the subscription, the meaning of its state, and the link to the billing portal. */
export const SubscriptionCard = ({ subscription }: { subscription: Subscription }): ReactElement => {
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
