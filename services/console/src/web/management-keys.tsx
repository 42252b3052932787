import type { ManagementScope } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { type Input, type ItemOf, useApiMutation, useApiQuery } from './api/index.ts';
import { useHasDraft } from './drafts.ts';
import { useI18n } from './i18n/index.ts';
import { useShowOnce } from './leave-guard.tsx';
import { ConfirmDialog, Dialog, DialogActions, OnceOnlyDialog } from './overlays/index.ts';
import { useIsBusiness } from './session/index.ts';
import { useToast } from './toasts/index.ts';
import {
  Badge,
  Button,
  Card,
  checkText,
  Form,
  fault,
  Loaded,
  Secret,
  SelectField,
  TextField,
  Time,
  useForm,
  useNow,
} from './ui/index.ts';

const EXPIRY_DAYS = { never: undefined, days30: 30, days90: 90, days365: 365 } as const;
const DAY_MS = 86_400_000;

/** Expiry of a new key: never, or after some days. */
type ManagementKeyExpiry = keyof typeof EXPIRY_DAYS;
const EXPIRIES: readonly ManagementKeyExpiry[] = ['never', 'days30', 'days90', 'days365'];

/** Access to an area. `write` includes `read`. */
type Access = 'none' | 'read' | 'write';
type Area = 'api_keys' | 'wallet' | 'usage' | 'apps' | 'webhooks';

/** The form of a new key, as typed. */
interface ManagementKeyValues extends Readonly<Record<Area, Access>> {
  readonly name: string;
  readonly expires_at: ManagementKeyExpiry;
}

const EMPTY_MANAGEMENT_KEY: ManagementKeyValues = {
  name: '',
  expires_at: 'never',
  api_keys: 'none',
  wallet: 'none',
  usage: 'none',
  apps: 'none',
  webhooks: 'none',
};

/** Scopes of each area, by access. Nothing changes wallet and usage by a key. */
const SCOPES: Readonly<Record<Area, Partial<Record<Access, ManagementScope>>>> = {
  api_keys: { read: 'api_keys:read', write: 'api_keys:write' },
  wallet: { read: 'wallet:read' },
  usage: { read: 'usage:read' },
  apps: { read: 'apps:read', write: 'apps:write' },
  webhooks: { read: 'webhooks:read', write: 'webhooks:write' },
};

const AREAS: readonly Area[] = ['api_keys', 'wallet', 'usage', 'apps', 'webhooks'];

/** Returns the areas that an account has. Only a business has apps. */
const areasFor = (isBusiness: boolean): readonly Area[] => (isBusiness ? AREAS : AREAS.slice(0, 3));

const scopesOf = (values: ManagementKeyValues): ManagementScope[] =>
  AREAS.flatMap((area) => SCOPES[area][values[area]] ?? []);

/** Returns the faults of a form; `noScopeFault` is the text for a key that may do nothing. */
const checkManagementKey = (values: ManagementKeyValues, noScopeFault: string) => [
  ...checkText('name', values.name, { required: true, max: 80 }),
  ...(scopesOf(values).length === 0 ? [fault('scopes', noScopeFault)] : []),
];

/** Returns the request of a form. */
const toManagementKey = (values: ManagementKeyValues, now: Date): Input<'createManagementKey'>['body'] => {
  const days = EXPIRY_DAYS[values.expires_at];
  return {
    name: values.name,
    scopes: scopesOf(values),
    expires_at: days === undefined ? null : new Date(now.getTime() + days * DAY_MS).toISOString(),
  };
};

/** Draft of a new key. */
const NEW_MANAGEMENT_KEY = 'new-management-key';

const accessesOf = (area: Area): readonly Access[] =>
  SCOPES[area].write === undefined ? ['none', 'read'] : ['none', 'read', 'write'];

/** Creates a management key and shows it once. */
const CreateManagementKeyDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { keys, managementKeys: texts } = useI18n().messages;
  const isBusiness = useIsBusiness();
  const showOnce = useShowOnce();
  const create = useApiMutation('createManagementKey', {
    refreshes: ['listManagementKeys'],
    shows: ({ key }) => {
      onClose();
      showOnce((close) => (
        <OnceOnlyDialog title={texts.secretTitle} doneLabel={keys.secretDone} onClose={close}>
          <Secret label={texts.secretLabel} text={keys.secretText} value={key} />
        </OnceOnlyDialog>
      ));
    },
  });
  const form = useForm<ManagementKeyValues>({
    draft: NEW_MANAGEMENT_KEY,
    initial: EMPTY_MANAGEMENT_KEY,
    check: (values) => checkManagementKey(values, texts.noScope),
    submit: async (values) => {
      await create.mutateAsync({ body: toManagementKey(values, new Date()) });
    },
  });
  const { values, set, faultOf } = form;
  return (
    <Dialog onClose={onClose} title={texts.createTitle}>
      <Form form={form} label={texts.createTitle}>
        <TextField
          label={keys.name}
          hint={keys.nameHint}
          autoComplete="off"
          value={values.name}
          onChange={(name) => set('name', name)}
          fault={faultOf('name')}
        />
        {areasFor(isBusiness).map((area) => (
          <SelectField
            key={area}
            label={texts.areas[area]}
            value={values[area]}
            onChange={(access) => set(area, access)}
            options={accessesOf(area).map((value) => ({ value, label: texts.accesses[value] }))}
          />
        ))}
        <SelectField
          label={keys.expires}
          value={values.expires_at}
          onChange={(expiry) => set('expires_at', expiry)}
          fault={faultOf('expires_at')}
          options={EXPIRIES.map((value) => ({ value, label: keys.expiryChoices[value] }))}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? keys.creating : undefined}>
            {texts.create}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

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
