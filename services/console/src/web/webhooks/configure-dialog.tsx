import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { Button, checkText, Form, TextField, useForm } from '../ui/index.ts';
import { SigningSecretDialog } from './signing-secret-dialog.tsx';
import { useWebhookOperations } from './webhook-operations.ts';

const URL_CHARACTERS_MAX = 2048;

/** Sets the destination of a webhook, and shows the new signing secret once. */
export const ConfigureDialog = ({
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
