import type { ReactNode } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Notice } from '../ui/index.ts';
import type { Configuration } from './use-configuration.ts';
import type { WebhookEventRecord } from './use-webhook-events.ts';

/** Says that a failed event holds up the others. The list is newer than the configuration while it is followed. */
export const BlockedNotice = ({
  configuration,
  events,
}: {
  configuration: Configuration;
  events: readonly WebhookEventRecord[];
}): ReactNode => {
  const { webhooks } = useI18n().messages;
  const isFailed = events.some(({ status }) => status === 'failed');
  if (!isFailed && (configuration.state === 'ok' || events.length > 0)) return null;
  return (
    <Notice tone="bad" title={webhooks.blockedTitle}>
      <p>{webhooks.blockedText}</p>
    </Notice>
  );
};
