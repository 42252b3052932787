import { type ReactElement, useState } from 'react';
import { type Answer, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, OVERLAP_SECONDS, RotateDialog } from '../overlays/index.ts';
import { Button, Secret } from '../ui/index.ts';

/** Replaces the signing secret. Nothing is cancelled. */
export const RotateSecretDialog = ({ clientId, onClose }: { clientId: string; onClose: () => void }): ReactElement => {
  const { messages, formats } = useI18n();
  const { webhooks, overlap } = messages;
  const [rotated, setRotated] = useState<Answer<'rotateWebhookSecret'>>();
  const rotate = useApiMutation('rotateWebhookSecret', { onDone: setRotated });
  if (rotated === undefined) {
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
  }
  return (
    <Dialog isOpen onClose={onClose} title={webhooks.secretTitle} canDismiss={false}>
      <Secret label={webhooks.secretLabel} text={webhooks.secretText} value={rotated.signing_secret} />
      <p className="hint">{overlap.until(formats.dateTime(rotated.previous_expires_at))}</p>
      <div className="dialog-actions">
        <Button variant="primary" onClick={onClose}>
          {webhooks.secretDone}
        </Button>
      </div>
    </Dialog>
  );
};
