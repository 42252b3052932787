import { type ReactElement, useState } from 'react';
import { Permitted } from '../access/index.ts';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard.tsx';
import { ConfirmDialog, Dialog, DialogActions, OVERLAP_SECONDS, RotateDialog } from '../overlays/index.ts';
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
  TextField,
  Time,
  useForm,
} from '../ui/index.ts';
import { ATTEMPTS_MAX, attemptsOfRound, headOf, isFailing } from './lane.ts';
import { SigningSecretDialog } from './signing-secret-dialog.tsx';
import type { Configuration } from './webhook-operations.ts';
import { useWebhookEvents, useWebhookOperations } from './webhook-operations.ts';

const URL_CHARACTERS_MAX = 2048;

/** Sets the destination of a webhook, and shows the new signing secret once. */
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
  const showOnce = useShowOnce();
  const { operations } = useWebhookOperations();
  const configure = useApiMutation(operations.configure, {
    refreshes: [operations.configuration, operations.events],
    shows: ({ signing_secret }) => {
      onClose();
      showOnce((close) => <SigningSecretDialog value={signing_secret} onClose={close} />);
    },
  });
  const form = useForm({
    draft: `webhook-${clientId}`,
    initial: { url },
    check: (values) => checkText('url', values.url, { required: true, max: URL_CHARACTERS_MAX }),
    submit: async (values) => {
      await configure.mutateAsync({ params: { client_id: clientId }, body: { url: values.url.trim() } });
    },
  });
  return (
    <Dialog onClose={onClose} title={title}>
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
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? webhooks.saving : undefined}>
            {title}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

/** Address of the webhook, and its settings. */
export const ConfigurationCard = ({
  clientId,
  configuration,
}: {
  clientId: string;
  configuration: Configuration | null;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const { isAccount, operations } = useWebhookOperations();
  const [isChanging, setChanging] = useState(false);
  const label = configuration === null ? webhooks.setUp : webhooks.change;
  return (
    <Card
      title={webhooks.configuration}
      lead={isAccount ? webhooks.account.lead : webhooks.lead}
      actions={
        <Permitted to={operations.configure}>
          <Button variant={configuration === null ? 'primary' : 'secondary'} onClick={() => setChanging(true)}>
            {label}
          </Button>
        </Permitted>
      }
    >
      {configuration === null ? (
        <EmptyState
          icon="external"
          title={webhooks.notConfiguredTitle}
          text={isAccount ? webhooks.account.notConfiguredText : webhooks.notConfiguredText}
        />
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
  const { operations, isAccount } = useWebhookOperations();
  const test = useApiMutation(operations.test, {
    refreshes: [operations.events, operations.configuration],
    onDone: () => toast(webhooks.tested),
  });
  const send = (): void => test.mutate({ params: { client_id: clientId } });
  return (
    <>
      <Facts
        items={[
          [webhooks.url, <code key="url">{configuration.url}</code>],
          [webhooks.state, <WebhookState key="state" configuration={configuration} />],
          [webhooks.generation, configuration.generation],
          [webhooks.since, <Time key="since" at={configuration.created_at} exact />],
        ]}
      />
      <Permitted to={operations.test}>
        <div className="button-pair">
          <Button busyLabel={test.isPending ? webhooks.testing : undefined} onClick={send}>
            {webhooks.test}
          </Button>
          <Button onClick={() => setRotating(true)}>{webhooks.rotate}</Button>
          {isAccount && <DeleteWebhook />}
        </div>
        <p className="hint">{webhooks.testHint}</p>
      </Permitted>
      {isRotating && <RotateSecretDialog clientId={clientId} onClose={() => setRotating(false)} />}
      {test.isError && <ErrorNotice error={test.error} onRetry={send} />}
    </>
  );
};

/** Shows if events arrive: a receiver that refuses the next one is failing long before it is blocked. */
const WebhookState = ({ configuration: { client_id, state } }: { configuration: Configuration }): ReactElement => {
  const { webhooks } = useI18n().messages;
  const head = headOf(useWebhookEvents(client_id, undefined).data?.pages.flatMap((page) => page.data) ?? []);
  if (state === 'blocked') return <Badge tone="bad">{webhooks.blocked}</Badge>;
  if (head === undefined || !isFailing(head)) return <Badge tone="good">{webhooks.ok}</Badge>;
  return <Badge tone="warn">{webhooks.failing(attemptsOfRound(head), ATTEMPTS_MAX)}</Badge>;
};

/** Deletes the webhook of the account, after a question. */
const DeleteWebhook = (): ReactElement => {
  const { account } = useI18n().messages.webhooks;
  const toast = useToast();
  const [isAsking, setAsking] = useState(false);
  const remove = useApiMutation('deleteAccountWebhook', {
    refreshes: ['getAccountWebhook', 'listAccountEvents'],
    onDone: () => toast(account.deleted),
  });
  return (
    <>
      <Button onClick={() => setAsking(true)}>{account.delete}</Button>
      {isAsking && (
        <ConfirmDialog
          onClose={() => setAsking(false)}
          title={account.deleteTitle}
          text={account.deleteText}
          confirmLabel={account.delete}
          busyLabel={account.deleting}
          isBusy={remove.isPending}
          isDangerous
          error={remove.error}
          onConfirm={() => remove.mutate({})}
        />
      )}
    </>
  );
};

/** Replaces the signing secret. Nothing is cancelled. */
const RotateSecretDialog = ({ clientId, onClose }: { clientId: string; onClose: () => void }): ReactElement => {
  const { messages, formats } = useI18n();
  const { webhooks, overlap } = messages;
  const showOnce = useShowOnce();
  const { operations } = useWebhookOperations();
  const rotate = useApiMutation(operations.rotate, {
    shows: ({ signing_secret, previous_expires_at }) => {
      onClose();
      const note = overlap.until(formats.dateTime(previous_expires_at));
      showOnce((close) => <SigningSecretDialog value={signing_secret} note={note} onClose={close} />);
    },
  });
  return (
    <RotateDialog
      title={webhooks.rotateTitle}
      text={webhooks.rotateText}
      rotation={rotate}
      onConfirm={(chosen) =>
        rotate.mutate({ params: { client_id: clientId }, body: { overlap_seconds: OVERLAP_SECONDS[chosen] } })
      }
      onClose={onClose}
    />
  );
};
