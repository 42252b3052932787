import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import type { WebhookEventRecord } from './use-webhook-events.ts';
import { useWebhookOperations } from './webhook-operations.ts';

/** Asks once before an event is given up. */
export const SkipDialog = ({
  clientId,
  event,
  onClose,
}: {
  clientId: string;
  event: WebhookEventRecord;
  onClose: () => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const toast = useToast();
  const { operations } = useWebhookOperations();
  const recover = useApiMutation(operations.recover, {
    refreshes: [operations.events, operations.configuration],
    onDone: () => {
      toast(webhooks.skipped);
      onClose();
    },
  });
  const params = { client_id: clientId, event_id: event.event_id };
  return (
    <ConfirmDialog
      onClose={onClose}
      title={webhooks.skipTitle(event.sequence)}
      text={webhooks.skipText}
      confirmLabel={webhooks.skip}
      busyLabel={webhooks.skipping}
      isBusy={recover.isPending}
      isDangerous
      error={recover.error}
      onConfirm={() => recover.mutate({ params, body: { action: 'skip' } })}
    />
  );
};
