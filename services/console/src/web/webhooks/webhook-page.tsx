import type { ReactElement } from 'react';
import { AppFrame } from '../apps/index.ts';
import { Loaded } from '../ui/index.ts';
import { ConfigurationCard } from './configuration-card.tsx';
import { EventsCard } from './events-card.tsx';
import { SignatureHelp } from './signature-help.tsx';
import { useConfiguration } from './use-configuration.ts';

/** The webhook of one app: where it goes, what became of each event, how to check signatures. */
export const WebhookPage = (): ReactElement => (
  <AppFrame>{(app) => <Webhook key={app.client_id} clientId={app.client_id} />}</AppFrame>
);

const Webhook = ({ clientId }: { clientId: string }): ReactElement => (
  <Loaded query={useConfiguration(clientId)} lines={6}>
    {(configuration) => (
      <div className="stack">
        <ConfigurationCard clientId={clientId} configuration={configuration} />
        {configuration !== null && <EventsCard clientId={clientId} configuration={configuration} />}
        <SignatureHelp />
      </div>
    )}
  </Loaded>
);
