import type { App } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { type Answer, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, OVERLAP_SECONDS, RotateDialog } from '../overlays/index.ts';
import { Button, Card, Secret } from '../ui/index.ts';

type Rotated = Answer<'rotateAppSecret'>;

/** Replaces the client secret, which is never shown again. */
export const SecretCard = ({ app }: { app: App }): ReactElement => {
  const { messages, formats } = useI18n();
  const { apps } = messages;
  const [isAsking, setAsking] = useState(false);
  const [rotated, setRotated] = useState<Rotated>();
  if (app.client_type === 'public') return <Card title={apps.secret} lead={apps.noSecret} />;
  return (
    <Card
      title={apps.secret}
      lead={apps.secretNote}
      actions={<Button onClick={() => setAsking(true)}>{apps.rotate}</Button>}
    >
      {app.secret_rotated_at !== null && (
        <p className="hint">{apps.secretRotated(formats.date(app.secret_rotated_at))}</p>
      )}
      {isAsking && <RotateSecretDialog app={app} onClose={() => setAsking(false)} onRotated={setRotated} />}
      {rotated !== undefined && <RotatedDialog rotated={rotated} onClose={() => setRotated(undefined)} />}
    </Card>
  );
};

const RotateSecretDialog = ({
  app,
  onClose,
  onRotated,
}: {
  app: App;
  onClose: () => void;
  onRotated: (rotated: Rotated) => void;
}): ReactElement => {
  const { apps } = useI18n().messages;
  const rotate = useApiMutation('rotateAppSecret', {
    refreshes: ['listApps'],
    onDone: (rotated) => {
      onRotated(rotated);
      onClose();
    },
  });
  return (
    <RotateDialog
      title={apps.rotateTitle}
      text={apps.rotateText}
      rotation={rotate}
      onConfirm={(overlap) =>
        rotate.mutate({ params: { client_id: app.client_id }, body: { overlap_seconds: OVERLAP_SECONDS[overlap] } })
      }
      onClose={onClose}
    />
  );
};

const RotatedDialog = ({ rotated, onClose }: { rotated: Rotated; onClose: () => void }): ReactElement => {
  const { messages, formats } = useI18n();
  const { apps, overlap } = messages;
  const until = rotated.previous_secret_expires_at;
  return (
    <Dialog isOpen onClose={onClose} title={apps.newSecret} canDismiss={false}>
      <Secret label={apps.secretLabel} text={apps.secretText} value={rotated.client_secret} />
      <p className="hint">{until === null ? overlap.ended : overlap.until(formats.dateTime(until))}</p>
      <div className="dialog-actions">
        <Button variant="primary" onClick={onClose}>
          {apps.secretDone}
        </Button>
      </div>
    </Dialog>
  );
};
