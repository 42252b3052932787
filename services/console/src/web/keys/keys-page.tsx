import { type ReactElement, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { type ItemOf, useApiMutation, useApiQuery } from '../api/index.ts';
import { useHasDraft } from '../drafts.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard.tsx';
import { ManagementKeysCard } from '../management-keys.tsx';
import { ConfirmDialog, Dialog, OVERLAP_SECONDS, RotateDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, CopyButton, EmptyState, ErrorNotice, Loaded, Page, Segments } from '../ui/index.ts';
import { ChangeKeyDialog } from './change-key-dialog.tsx';
import { KeyForm } from './key-form.tsx';
import { EMPTY_KEY, toKeySettings } from './key-values.ts';
import { type KeyAct, KeysTable } from './keys-table.tsx';
import { NewSecretDialog } from './new-secret-dialog.tsx';
import { SAMPLE_LANGUAGES, type SampleLanguage, sampleRequest } from './sample-request.ts';

/** Draft of a new key. */
const NEW_KEY = 'new-key';

const NAMES = { curl: 'curl', python: 'Python', typescript: 'TypeScript' } as const;

type ApiKey = ItemOf<'listKeys'>;

const FALLBACK_CURRENCY = 'EUR';

/** Lists the API keys of the account. */
export const KeysPage = (): ReactElement => {
  const { keys } = useI18n().messages;
  const list = useApiQuery('listKeys', {});
  const wallet = useApiQuery('getWallet', {});
  const currency = wallet.data?.currency ?? FALLBACK_CURRENCY;
  const pause = usePause();
  const keep = useKeep();
  // A reload or a sign-in may have interrupted it.
  const hasDraft = useHasDraft(NEW_KEY);
  const [search, setSearch] = useSearchParams();
  const isAsked = search.has('create');
  const [isCreating, setCreating] = useState(hasDraft);
  const [open, setOpen] = useState<{ act: KeyAct; key: ApiKey }>();
  const close = (): void => setOpen(undefined);
  const endCreating = (): void => {
    setCreating(false);
    if (isAsked) setSearch({}, { replace: true });
  };
  const create = (
    <Permitted to="createKey">
      <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
        {keys.create}
      </Button>
    </Permitted>
  );
  return (
    <Page title={keys.title} lead={keys.lead} actions={create}>
      {pause.isError && <ErrorNotice error={pause.error} />}
      {keep.isError && <ErrorNotice error={keep.error} />}
      <Loaded
        query={list}
        after={
          <>
            <UseCard />
            <Permitted to="listManagementKeys">
              <ManagementKeysCard />
            </Permitted>
          </>
        }
      >
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              icon="keys"
              title={keys.emptyTitle}
              text={keys.emptyText}
              action={
                <Permitted to="createKey">
                  <Button onClick={() => setCreating(true)}>{keys.createFirst}</Button>
                </Permitted>
              }
            />
          ) : (
            <div className="card">
              <KeysTable
                keys={data}
                currency={currency}
                onAct={(act, key) => setOpen({ act, key })}
                onPause={({ id, active }) => pause.mutate({ params: { key_id: id }, body: { active: !active } })}
                onKeep={({ id }) => keep.mutate({ params: { key_id: id }, body: { creator_left: false } })}
              />
            </div>
          )
        }
      </Loaded>
      {(isCreating || isAsked) && (
        <Permitted to="createKey">
          <CreateKeyDialog currency={currency} onClose={endCreating} />
        </Permitted>
      )}
      {open?.act === 'change' && <ChangeKeyDialog apiKey={open.key} currency={currency} onClose={close} />}
      {open?.act === 'rotate' && <RotateKeyDialog apiKey={open.key} onClose={close} />}
      {open?.act === 'delete' && <DeleteKeyDialog apiKey={open.key} onClose={close} />}
    </Page>
  );
};

const usePause = () => {
  const { keys } = useI18n().messages;
  const toast = useToast();
  return useApiMutation('updateKey', {
    refreshes: ['listKeys'],
    onDone: ({ name, active }) => toast(active ? keys.resumed(name) : keys.paused(name)),
  });
};

const useKeep = () => {
  const { keys } = useI18n().messages;
  const toast = useToast();
  return useApiMutation('updateKey', { refreshes: ['listKeys'], onDone: ({ name }) => toast(keys.kept(name)) });
};

const UseCard = (): ReactElement => {
  const { keys, common } = useI18n().messages;
  const baseUrl = `${window.location.origin}/v1`;
  return (
    <Card title={keys.useTitle} lead={keys.useText}>
      <div className="copy-row">
        <span className="hint">{keys.baseUrl}</span>
        <code>{baseUrl}</code>
        <CopyButton text={baseUrl} label={`${common.copy}: ${keys.baseUrl}`} />
      </div>
      <RequestSamples />
    </Card>
  );
};

/** Shows a first request in several languages, to copy. */
export const RequestSamples = (): ReactElement => {
  const { keys, common } = useI18n().messages;
  const [language, setLanguage] = useState<SampleLanguage>('curl');
  const sample = sampleRequest(language, `${window.location.origin}/v1`);
  return (
    <div className="sample">
      <div className="sample-head">
        <Segments
          label={keys.sampleLanguage}
          value={language}
          onChange={setLanguage}
          options={SAMPLE_LANGUAGES.map((value) => ({ value, label: NAMES[value] }))}
        />
        <CopyButton text={sample} label={`${common.copy}: ${NAMES[language]}`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: The code may scroll, so it takes the focus. */}
      <pre className="code" tabIndex={0}>
        <code>{sample}</code>
      </pre>
    </div>
  );
};

/** Deletes a key after a confirmation. */
const DeleteKeyDialog = ({ apiKey, onClose }: { apiKey: ItemOf<'listKeys'>; onClose: () => void }): ReactElement => {
  const { keys, common } = useI18n().messages;
  const toast = useToast();
  const remove = useApiMutation('deleteKey', {
    refreshes: ['listKeys'],
    onDone: () => {
      toast(keys.deleted(apiKey.name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={keys.deleteTitle(apiKey.name)}
      text={keys.deleteText}
      confirmLabel={keys.deleteConfirm}
      busyLabel={common.working}
      isBusy={remove.isPending}
      isDangerous
      error={remove.error}
      onConfirm={() => remove.mutate({ params: { key_id: apiKey.id } })}
    />
  );
};

/** Replaces the secret of a key. The old one stays valid for the chosen time. */
const RotateKeyDialog = ({ apiKey, onClose }: { apiKey: ItemOf<'listKeys'>; onClose: () => void }): ReactElement => {
  const { messages, formats } = useI18n();
  const { keys, overlap } = messages;
  const showOnce = useShowOnce();
  const rotate = useApiMutation('rotateKey', {
    refreshes: ['listKeys'],
    shows: ({ key, previous_expires_at: until }) => {
      onClose();
      const note = until === null ? overlap.ended : overlap.until(formats.dateTime(until));
      showOnce((close) => <NewSecretDialog value={key} note={note} onClose={close} />);
    },
  });
  return (
    <RotateDialog
      title={keys.rotateTitle(apiKey.name)}
      text={keys.rotateText}
      rotation={rotate}
      onConfirm={(chosen) =>
        rotate.mutate({ params: { key_id: apiKey.id }, body: { overlap_seconds: OVERLAP_SECONDS[chosen] } })
      }
      onClose={onClose}
    />
  );
};

/** Creates a key and shows it once. */
const CreateKeyDialog = ({ currency, onClose }: { currency: string; onClose: () => void }): ReactElement => {
  const { keys } = useI18n().messages;
  const showOnce = useShowOnce();
  const create = useApiMutation('createKey', {
    refreshes: ['listKeys'],
    shows: ({ id, key }) => {
      onClose();
      showOnce((close) => <NewSecretDialog keyId={id} value={key} onClose={close} />);
    },
  });
  return (
    <Dialog onClose={onClose} title={keys.createTitle}>
      <KeyForm
        draft={NEW_KEY}
        label={keys.createTitle}
        initial={EMPTY_KEY}
        currency={currency}
        submitLabel={keys.create}
        busyLabel={keys.creating}
        submit={async (values) => {
          await create.mutateAsync({ body: toKeySettings(values, new Date()) });
        }}
      />
    </Dialog>
  );
};
