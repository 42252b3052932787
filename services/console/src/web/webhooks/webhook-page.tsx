import type { ReactElement } from 'react';
import { ApiError, useApiQuery } from '../api/index.ts';
import { AppFrame } from '../apps/index.ts';
import { ErrorNotice, Loading } from '../ui/index.ts';
import { ConfigurationCard } from './configuration-card.tsx';
import { EventsCard } from './events-card.tsx';
import { SignatureHelp } from './signature-help.tsx';

/** The webhook of one app: where it goes, what became of each event, how to check signatures. */
export const WebhookPage = (): ReactElement => (
  <AppFrame>{(app) => <Webhook key={app.client_id} clientId={app.client_id} />}</AppFrame>
);

const Webhook = ({ clientId }: { clientId: string }): ReactElement => {
  const configuration = useApiQuery('getWebhookConfiguration', { params: { client_id: clientId } }, { staleTime: 0 });
  const isAbsent = configuration.error instanceof ApiError && configuration.error.status === 404;
  if (configuration.isPending) return <Loading lines={6} />;
  if (configuration.isError && !isAbsent) {
    return <ErrorNotice error={configuration.error} onRetry={() => void configuration.refetch()} />;
  }
  const current = isAbsent ? undefined : configuration.data;
  return (
    <div className="stack">
      <ConfigurationCard clientId={clientId} configuration={current} />
      {current !== undefined && <EventsCard clientId={clientId} configuration={current} />}
      <SignatureHelp />
    </div>
  );
};
