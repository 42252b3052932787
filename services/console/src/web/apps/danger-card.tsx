import type { App } from '@svc/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useLocation } from 'wouter';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, ErrorNotice, Notice, TextField } from '../ui/index.ts';

/** Deactivates or deletes an app, which ends its connections. */
export const DangerCard = ({ app }: { app: App }): ReactElement => {
  const { apps } = useI18n().messages;
  const [asking, setAsking] = useState<'deactivate' | 'delete'>();
  const close = (): void => setAsking(undefined);
  return (
    <Card title={apps.state} tone="danger">
      {app.suspended_at === null ? (
        <div className="danger-row">
          <p>{app.active ? apps.deactivateHint : apps.activateHint}</p>
          {app.active ? (
            <Button onClick={() => setAsking('deactivate')}>{apps.deactivate}</Button>
          ) : (
            <ActivateButton app={app} />
          )}
        </div>
      ) : (
        <Notice tone="warn" title={apps.suspendedTitle}>
          {apps.suspendedText}
        </Notice>
      )}
      <div className="danger-row">
        <p>{apps.deleteHint}</p>
        <Button onClick={() => setAsking('delete')}>{apps.delete}</Button>
      </div>
      {asking === 'deactivate' && <DeactivateDialog app={app} onClose={close} />}
      {asking === 'delete' && <DeleteDialog app={app} onClose={close} />}
    </Card>
  );
};

const ActivateButton = ({ app }: { app: App }): ReactElement => {
  const { apps } = useI18n().messages;
  const toast = useToast();
  const update = useApiMutation('updateApp', {
    refreshes: ['listApps'],
    onDone: () => toast(apps.activated(app.name)),
  });
  const activate = (): void => update.mutate({ params: { client_id: app.client_id }, body: { active: true } });
  return (
    <div>
      <Button variant="primary" busyLabel={update.isPending ? apps.activating : undefined} onClick={activate}>
        {apps.activate}
      </Button>
      {update.isError && <ErrorNotice error={update.error} onRetry={activate} />}
    </div>
  );
};

const DeactivateDialog = ({ app, onClose }: { app: App; onClose: () => void }): ReactElement => {
  const { apps } = useI18n().messages;
  const toast = useToast();
  const update = useApiMutation('updateApp', {
    refreshes: ['listApps'],
    onDone: () => {
      toast(apps.deactivated(app.name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={apps.deactivateTitle(app.name)}
      text={apps.deactivateText}
      confirmLabel={apps.deactivate}
      busyLabel={apps.deactivating}
      isBusy={update.isPending}
      isDangerous
      error={update.error}
      onConfirm={() => update.mutate({ params: { client_id: app.client_id }, body: { active: false } })}
    />
  );
};

const DeleteDialog = ({ app, onClose }: { app: App; onClose: () => void }): ReactElement => {
  const { apps } = useI18n().messages;
  const toast = useToast();
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  const queries = useQueryClient();
  const onDone = (): void => {
    toast(apps.deleted(app.name));
    // Leaves the page before the refreshed list lacks the app.
    navigate('/apps', { replace: true });
    void queries.invalidateQueries({ queryKey: ['listApps'] });
  };
  const remove = useApiMutation('deleteApp', { onDone });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={apps.deleteTitle(app.name)}
      text={apps.deleteText}
      confirmLabel={apps.delete}
      busyLabel={apps.deleting}
      isBusy={remove.isPending}
      isDangerous
      canConfirm={typed.trim() === app.name}
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { client_id: app.client_id } })}
    >
      <TextField
        label={apps.deleteTypeName(app.name)}
        value={typed}
        onChange={setTyped}
        autoComplete="off"
        spellCheck={false}
      />
    </ConfirmDialog>
  );
};
