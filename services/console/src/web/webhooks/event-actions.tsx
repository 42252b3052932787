import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, ErrorNotice } from '../ui/index.ts';
import type { WebhookEventRecord } from './use-webhook-events.ts';

const REFRESHES = ['listWebhookEvents', 'getWebhookConfiguration', 'getWebhookEvent'] as const;

/** Retry or skip a failed event, or deliver a queued one now. */
export const EventActions = ({
  clientId,
  event,
  onSkip,
}: {
  clientId: string;
  event: WebhookEventRecord;
  onSkip: () => void;
}): ReactElement | false => {
  if (event.status === 'failed') return <Recovery clientId={clientId} event={event} onSkip={onSkip} />;
  return event.status === 'queued' && <DeliverNow clientId={clientId} event={event} />;
};

const DeliverNow = ({ clientId, event }: { clientId: string; event: WebhookEventRecord }): ReactElement => {
  const { webhooks } = useI18n().messages;
  const toast = useToast();
  const deliver = useApiMutation('deliverWebhookEventNow', {
    refreshes: REFRESHES,
    onDone: () => toast(webhooks.deliverNowDone),
  });
  return (
    <>
      <Button
        small
        busyLabel={deliver.isPending ? webhooks.deliveringNow : undefined}
        aria-label={webhooks.deliverEventNow(event.sequence)}
        onClick={() => deliver.mutate({ params: { client_id: clientId, event_id: event.event_id } })}
      >
        {webhooks.deliverNow}
      </Button>
      {deliver.isError && <ErrorNotice error={deliver.error} />}
    </>
  );
};

const Recovery = ({
  clientId,
  event,
  onSkip,
}: {
  clientId: string;
  event: WebhookEventRecord;
  onSkip: () => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const toast = useToast();
  const recover = useApiMutation('recoverWebhookEvent', {
    refreshes: REFRESHES,
    onDone: () => toast(webhooks.retried),
  });
  const params = { client_id: clientId, event_id: event.event_id };
  return (
    <div className="button-pair">
      <Button
        small
        variant="primary"
        busyLabel={recover.isPending ? webhooks.retrying : undefined}
        aria-label={webhooks.retryEvent(event.sequence)}
        onClick={() => recover.mutate({ params, body: { action: 'retry' } })}
      >
        {webhooks.retry}
      </Button>
      <Button small aria-label={webhooks.skipEvent(event.sequence)} onClick={onSkip}>
        {webhooks.skip}
      </Button>
      {recover.isError && <ErrorNotice error={recover.error} />}
    </div>
  );
};
