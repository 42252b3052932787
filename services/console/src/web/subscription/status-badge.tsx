import type { Subscription } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Badge } from '../ui/index.ts';
import { isEnding, toneOf } from './subscription-status.ts';

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
