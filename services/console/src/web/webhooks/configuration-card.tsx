import { type ReactElement, useState } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import {
  Badge,
  Button,
  Card,
  checkText,
  EmptyState,
  ErrorNotice,
  Facts,
  Form,
  Secret,
  TextField,
  Time,
  useForm,
} from '../ui/index.ts';
import { RotateSecretDialog } from './rotate-secret-dialog.tsx';
import type { Configuration } from './use-configuration.ts';

/** Address of the webhook, and its settings. */
export const ConfigurationCard = ({
  clientId,
  configuration,
}: {
  clientId: string;
  configuration: Configuration | null;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const [isChanging, setChanging] = useState(false);
  const label = configuration === null ? webhooks.setUp : webhooks.change;
  return (
    <Card
      title={webhooks.configuration}
      lead={webhooks.lead}
      actions={
        <Button variant={configuration === null ? 'primary' : 'secondary'} onClick={() => setChanging(true)}>
          {label}
        </Button>
      }
    >
      {configuration === null ? (
        <EmptyState icon="external" title={webhooks.notConfiguredTitle} text={webhooks.notConfiguredText} />
      ) : (
        <Current clientId={clientId} configuration={configuration} />
      )}
      {isChanging && (
        <ConfigureDialog
          clientId={clientId}
          title={label}
          url={configuration?.url ?? ''}
          onClose={() => setChanging(false)}
        />
      )}
    </Card>
  );
};

const Current = ({ clientId, configuration }: { clientId: string; configuration: Configuration }): ReactElement => {
  const { webhooks } = useI18n().messages;
  const toast = useToast();
  const [isRotating, setRotating] = useState(false);
  const test = useApiMutation('testWebhook', {
    refreshes: ['listWebhookEvents', 'getWebhookConfiguration'],
    onDone: () => toast(webhooks.tested),
  });
  const send = (): void => test.mutate({ params: { client_id: clientId } });
  return (
    <>
      <Facts
        items={[
          [webhooks.url, <code key="url">{configuration.url}</code>],
          [
            webhooks.state,
            <Badge key="state" tone={configuration.state === 'ok' ? 'good' : 'bad'}>
              {webhooks[configuration.state]}
            </Badge>,
          ],
          [webhooks.generation, configuration.generation],
          [webhooks.since, <Time key="since" at={configuration.created_at} exact />],
        ]}
      />
      <div className="button-pair">
        <Button busyLabel={test.isPending ? webhooks.testing : undefined} onClick={send}>
          {webhooks.test}
        </Button>
        <Button onClick={() => setRotating(true)}>{webhooks.rotate}</Button>
      </div>
      {isRotating && <RotateSecretDialog clientId={clientId} onClose={() => setRotating(false)} />}
      {test.isError && <ErrorNotice error={test.error} onRetry={send} />}
    </>
  );
};

const ConfigureDialog = ({
  clientId,
  title,
  url,
  onClose,
}: {
  clientId: string;
  title: string;
  url: string;
  onClose: () => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const [secret, setSecret] = useState<string>();
  const isDone = secret !== undefined;
  return (
    <Dialog isOpen onClose={onClose} title={isDone ? webhooks.secretTitle : title} canDismiss={!isDone}>
      {isDone ? (
        <>
          <Secret label={webhooks.secretLabel} text={webhooks.secretText} value={secret} />
          <div className="dialog-actions">
            <Button variant="primary" onClick={onClose}>
              {webhooks.secretDone}
            </Button>
          </div>
        </>
      ) : (
        <ConfigureForm clientId={clientId} title={title} url={url} onConfigured={setSecret} onClose={onClose} />
      )}
    </Dialog>
  );
};

const ConfigureForm = ({
  clientId,
  title,
  url,
  onConfigured,
  onClose,
}: {
  clientId: string;
  title: string;
  url: string;
  onConfigured: (secret: string) => void;
  onClose: () => void;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const configure = useApiMutation('configureWebhook', { refreshes: ['getWebhookConfiguration', 'listWebhookEvents'] });
  const form = useForm({
    initial: { url },
    check: (values) => checkText('url', values.url, { required: true, max: 2048 }),
    submit: async (values) => {
      const body = { url: values.url.trim() };
      const { signing_secret } = await configure.mutateAsync({ params: { client_id: clientId }, body });
      onConfigured(signing_secret);
    },
  });
  return (
    <Form form={form} label={title}>
      {url !== '' && <p>{webhooks.changeText}</p>}
      <TextField
        label={webhooks.url}
        hint={webhooks.urlHint}
        type="url"
        placeholder="https://example.com/webhooks"
        autoComplete="off"
        value={form.values.url}
        onChange={(next) => form.set('url', next)}
        fault={form.faultOf('url')}
      />
      <DialogActions onClose={onClose}>
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? webhooks.saving : undefined}>
          {title}
        </Button>
      </DialogActions>
    </Form>
  );
};
