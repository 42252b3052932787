import { type ReactElement, useState } from 'react';
import { type ItemOf, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, CopyButton, EmptyState, ErrorNotice, Loaded, Page } from '../ui/index.ts';
import { ChangeKeyDialog } from './change-key-dialog.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { DeleteKeyDialog } from './delete-key-dialog.tsx';
import { type KeyAct, KeysTable } from './keys-table.tsx';
import { RequestSamples } from './request-samples.tsx';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';

type ApiKey = ItemOf<'listKeys'>;

const FALLBACK_CURRENCY = 'EUR';

/** Lists the API keys of the account. */
export const KeysPage = (): ReactElement => {
  const { keys } = useI18n().messages;
  const list = useApiQuery('listKeys', {});
  const wallet = useApiQuery('getWallet', {});
  const currency = wallet.data?.currency ?? FALLBACK_CURRENCY;
  const pause = usePause();
  const [isCreating, setCreating] = useState(false);
  const [open, setOpen] = useState<{ act: KeyAct; key: ApiKey }>();
  const close = (): void => setOpen(undefined);
  const create = (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      {keys.create}
    </Button>
  );
  return (
    <Page title={keys.title} lead={keys.lead} actions={create}>
      {pause.isError && <ErrorNotice error={pause.error} />}
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              icon="keys"
              title={keys.emptyTitle}
              text={keys.emptyText}
              action={<Button onClick={() => setCreating(true)}>{keys.createFirst}</Button>}
            />
          ) : (
            <div className="card">
              <KeysTable
                keys={data}
                currency={currency}
                onAct={(act, key) => setOpen({ act, key })}
                onPause={({ id, active }) => pause.mutate({ params: { key_id: id }, body: { active: !active } })}
              />
            </div>
          )
        }
      </Loaded>
      <UseCard />
      {isCreating && <CreateKeyDialog currency={currency} onClose={() => setCreating(false)} />}
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
