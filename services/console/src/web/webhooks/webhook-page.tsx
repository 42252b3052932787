import type { ReactElement } from 'react';
import { Permitted } from '../access/index.ts';
import { AppFrame } from '../apps/index.ts';
import { useI18n } from '../i18n/index.ts';
import { accountIdOf, useAccount } from '../session/index.ts';
import { ButtonLink, Card, CopyButton, Loaded, Page } from '../ui/index.ts';
import { ConfigurationCard } from './configuration-card.tsx';
import { EventsCard } from './events-card.tsx';
import { ACCOUNT_WEBHOOK, useConfiguration, WebhookContext } from './webhook-operations.ts';

/** Shown to partners as it stands; a test runs it against a signed delivery. */
const SIGNATURE_SAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

// rawBody: the bytes as they came; header: X-Svc-Signature; secret: whsec_…
export function isGenuine(rawBody, header, secret) {
  const parts = (header ?? '').split(',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS)) return false;
  const expected = createHmac('sha256', secret).update(time + '.').update(rawBody).digest();
  // Two while the secret is being replaced: one that fits is enough.
  const signatures = parts.filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value));
  return signatures.some(([, value]) => timingSafeEqual(expected, Buffer.from(value, 'hex')));
}
`;

/** Explains how a receiver checks that an event is authentic. */
const SignatureHelp = (): ReactElement => {
  const { webhooks, common } = useI18n().messages;
  return (
    <Card
      title={webhooks.helpTitle}
      actions={<CopyButton text={SIGNATURE_SAMPLE} label={`${common.copy}: ${webhooks.helpCode}`} />}
    >
      <ol className="steps">
        {webhooks.help.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <h3>{webhooks.helpCode}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard must reach it. */}
      <section className="code" tabIndex={0} aria-label={webhooks.helpCode}>
        <pre>
          <code>{SIGNATURE_SAMPLE}</code>
        </pre>
      </section>
    </Card>
  );
};

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
