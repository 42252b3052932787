import type { ReactElement } from 'react';
import { useMay } from '../access/index.ts';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button } from '../ui/index.ts';
import { isWaiting } from './lane.ts';
import type { WebhookEventRecord } from './webhook-operations.ts';
import { useWebhookOperations } from './webhook-operations.ts';

interface EventActionsProps {
  readonly clientId: string;
  readonly event: WebhookEventRecord;
  readonly onSkip: () => void;
  /** Receives the error of an action; undefined when another begins. */
  readonly onFailure: (error: Error | undefined) => void;
}

/** Offers to retry or skip a failed event, or to deliver now the queued one whose turn it is. */
export const EventActions = (props: EventActionsProps): ReactElement | false => {
  const { event } = props;
  const { operations } = useWebhookOperations();
  const may = useMay();
  if (!may(operations.recover)) return false;
  if (event.status === 'failed') return <Recovery {...props} />;
  return event.status === 'queued' && !isWaiting(event) && <DeliverNow {...props} />;
};

const DeliverNow = ({ clientId, event, onFailure }: EventActionsProps): ReactElement => {
  const { webhooks } = useI18n().messages;
  const toast = useToast();
  const { operations } = useWebhookOperations();
  const deliver = useApiMutation(operations.deliverNow, {
    refreshes: [operations.events, operations.configuration, operations.event],
    onDone: () => toast(webhooks.deliverNowDone),
  });
  const start = (): void => {
    onFailure(undefined);
    deliver.mutate({ params: { client_id: clientId, event_id: event.event_id } }, { onError: onFailure });
  };
  return (
    <Button
      small
      busyLabel={deliver.isPending ? webhooks.deliveringNow : undefined}
      aria-label={webhooks.deliverEventNow(event.sequence)}
      onClick={start}
    >
      {webhooks.deliverNow}
    </Button>
  );
};

const Recovery = ({ clientId, event, onSkip, onFailure }: EventActionsProps): ReactElement => {
  const { webhooks } = useI18n().messages;
  const toast = useToast();
  const { operations } = useWebhookOperations();
  const recover = useApiMutation(operations.recover, {
    refreshes: [operations.events, operations.configuration, operations.event],
    onDone: () => toast(webhooks.retried),
  });
  const params = { client_id: clientId, event_id: event.event_id };
  const retry = (): void => {
    onFailure(undefined);
    recover.mutate({ params, body: { action: 'retry' } }, { onError: onFailure });
  };
  return (
    <div className="button-pair">
      <Button
        small
        variant="primary"
        busyLabel={recover.isPending ? webhooks.retrying : undefined}
        aria-label={webhooks.retryEvent(event.sequence)}
        onClick={retry}
      >
        {webhooks.retry}
      </Button>
      <Button small aria-label={webhooks.skipEvent(event.sequence)} onClick={onSkip}>
        {webhooks.skip}
      </Button>
    </div>
  );
};
