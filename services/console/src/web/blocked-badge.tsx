import type { ReactElement } from 'react';
import { useApiQuery } from './api/index.ts';
import { Badge } from './ui/index.ts';

/** Marks an app whose webhook is blocked. Renders nothing for any other. */
export const BlockedBadge = ({ clientId, label }: { clientId: string; label: string }): ReactElement | false => {
  const failed = useApiQuery('listWebhookEvents', {
    params: { client_id: clientId },
    query: { status: 'failed', limit: 1 },
  });
  const isBlocked = (failed.data?.data.length ?? 0) > 0;
  return isBlocked && <Badge tone="bad">{label}</Badge>;
};
