import { type ReactElement, useState } from 'react';
import { type ItemOf, useApiMutation, useApiQuery } from '../api/index.ts';
import { useHasDraft } from '../drafts/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Badge, Button, Card, Loaded, Time, useNow } from '../ui/index.ts';
import { CreateManagementKeyDialog, NEW_MANAGEMENT_KEY } from './create-management-key-dialog.tsx';

type ManagementKey = ItemOf<'listManagementKeys'>;

/** Lists the management keys of the account, creates and deletes them. */
export const ManagementKeysCard = (): ReactElement => {
  const { managementKeys: texts } = useI18n().messages;
  const list = useApiQuery('listManagementKeys', {});
  const hasDraft = useHasDraft(NEW_MANAGEMENT_KEY);
  const [isCreating, setCreating] = useState(hasDraft);
  const [deleted, setDeleted] = useState<ManagementKey>();
  return (
    <Card title={texts.title} lead={texts.lead}>
      <Loaded query={list} lines={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p>{texts.empty}</p>
          ) : (
            <ul className="rows">
              {data.map((key) => (
                <KeyRow key={key.id} managementKey={key} onDelete={() => setDeleted(key)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <div className="actions">
        <Button onClick={() => setCreating(true)}>{texts.create}</Button>
      </div>
      {isCreating && <CreateManagementKeyDialog onClose={() => setCreating(false)} />}
      {deleted !== undefined && <DeleteDialog managementKey={deleted} onClose={() => setDeleted(undefined)} />}
    </Card>
  );
};

const KeyRow = ({
  managementKey: key,
  onDelete,
}: {
  managementKey: ManagementKey;
  onDelete: () => void;
}): ReactElement => {
  const { keys, managementKeys: texts, common } = useI18n().messages;
  const now = useNow();
  const isExpired = key.expires_at !== null && new Date(key.expires_at) <= now;
  return (
    <li className="row">
      <div className="row-text">
        <p className="row-title">
          {key.name} {isExpired && <Badge tone="bad">{keys.expired}</Badge>}
        </p>
        <p className="hint">
          <code>{key.prefix}…</code> · {key.scopes.join(', ')}
        </p>
        <p className="hint">
          {keys.columns.lastUsed}: {key.last_used_at === null ? common.never : <Time at={key.last_used_at} />}
          {key.expires_at !== null && (
            <>
              {' · '}
              {keys.columns.expires}: <Time at={key.expires_at} />
            </>
          )}
        </p>
      </div>
      <span className="row-end">
        <Button small onClick={onDelete} aria-label={texts.deleteKey(key.name)}>
          {keys.delete}
        </Button>
      </span>
    </li>
  );
};

/** Deletes a key after a confirmation. */
const DeleteDialog = ({
  managementKey: { id, name },
  onClose,
}: {
  managementKey: ManagementKey;
  onClose: () => void;
}): ReactElement => {
  const { keys, managementKeys: texts, common } = useI18n().messages;
  const toast = useToast();
  const remove = useApiMutation('deleteManagementKey', {
    refreshes: ['listManagementKeys'],
    onDone: () => {
      toast(keys.deleted(name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={keys.deleteTitle(name)}
      text={texts.deleteText}
      confirmLabel={keys.deleteConfirm}
      busyLabel={common.working}
      isBusy={remove.isPending}
      isDangerous
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { management_key_id: id } })}
    />
  );
};
