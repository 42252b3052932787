import { type ReactElement, useState } from 'react';
import { type ItemOf, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, Card, CopyButton, EmptyState, Loaded, Page } from '../ui/index.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { DeleteKeyDialog } from './delete-key-dialog.tsx';
import { KeysTable } from './keys-table.tsx';

const FALLBACK_CURRENCY = 'EUR';

/** The API keys of the account. */
export const KeysPage = (): ReactElement => {
  const { keys } = useI18n().messages;
  const list = useApiQuery('listKeys', {});
  const wallet = useApiQuery('getWallet', {});
  const currency = wallet.data?.currency ?? FALLBACK_CURRENCY;
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<ItemOf<'listKeys'>>();
  const create = (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      {keys.create}
    </Button>
  );
  return (
    <Page title={keys.title} lead={keys.lead} actions={create}>
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={keys.emptyTitle} text={keys.emptyText} />
          ) : (
            <div className="card">
              <KeysTable keys={data} currency={currency} onDelete={setDeleting} />
            </div>
          )
        }
      </Loaded>
      <UseCard />
      {isCreating && <CreateKeyDialog currency={currency} onClose={() => setCreating(false)} />}
      {deleting !== undefined && <DeleteKeyDialog apiKey={deleting} onClose={() => setDeleting(undefined)} />}
    </Page>
  );
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
    </Card>
  );
};
