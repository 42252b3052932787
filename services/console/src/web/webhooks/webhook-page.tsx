import type { ReactElement } from 'react';
import { Permitted } from '../access/index.ts';
import { AppFrame } from '../apps/index.ts';
import { useI18n } from '../i18n/index.ts';
import { accountIdOf, useAccount } from '../session/index.ts';
import { ButtonLink, Loaded, Page } from '../ui/index.ts';
import { ConfigurationCard } from './configuration-card.tsx';
import { EventsCard } from './events-card.tsx';
import { SignatureHelp } from './signature-help.tsx';
import { useConfiguration } from './use-configuration.ts';
import { ACCOUNT_WEBHOOK, WebhookContext } from './webhook-operations.ts';

/** The webhook of one app: where it goes, what became of each event, how to check signatures. */
export const WebhookPage = (): ReactElement => (
  <AppFrame>{(app) => <Webhook key={app.client_id} clientId={app.client_id} />}</AppFrame>
);

/** The webhook of the account itself, for those who automate. */
export const AccountWebhookPage = (): ReactElement => {
  const { webhooks, shell } = useI18n().messages;
  return (
    <WebhookContext value={ACCOUNT_WEBHOOK}>
      <Page
        title={webhooks.account.title}
        lead={webhooks.account.pageLead}
        actions={
          <Permitted to="getAlertSettings">
            <ButtonLink to="/usage/alerts">{shell.alerts}</ButtonLink>
          </Permitted>
        }
      >
        <Webhook clientId={accountIdOf(useAccount())} />
      </Page>
    </WebhookContext>
  );
};

const Webhook = ({ clientId }: { clientId: string }): ReactElement => (
  <Loaded query={useConfiguration(clientId)} lines={6}>
    {(configuration) => (
      <div className="stack">
        <ConfigurationCard clientId={clientId} configuration={configuration} />
        {configuration !== null && <EventsCard configuration={configuration} />}
        <SignatureHelp />
      </div>
    )}
  </Loaded>
);
