import type { AutoTopUp } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { type Answer, type ItemOf, useApi, useApiMutation, useApiPages, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { InvoicesCard } from '../invoices-card.tsx';
import { useToast } from '../toasts/index.ts';
import {
  Badge,
  Button,
  ButtonLink,
  Card,
  ErrorNotice,
  Loaded,
  Money,
  Notice,
  Page,
  PagesCard,
  Table,
  Time,
} from '../ui/index.ts';
import { AutoTopUpDialog } from './auto-top-up-dialog.tsx';
import { TopUpForm } from './top-up-form.tsx';

/** Automatic top-ups from the saved payment method: on or off, and within which limits. */
const AutoTopUpCard = ({ currency }: { currency: string }): ReactElement => {
  const { autoTopUp } = useI18n().messages;
  const settings = useApiQuery('getAutoTopUp', {}, { staleTime: 0 });
  return (
    <Card title={autoTopUp.title} lead={autoTopUp.lead} actions={<State settings={settings.data} />}>
      <Loaded query={settings} lines={2}>
        {(data) => <Settings settings={data} currency={currency} />}
      </Loaded>
    </Card>
  );
};

const State = ({ settings }: { settings: AutoTopUp | undefined }): ReactElement | undefined => {
  const { autoTopUp } = useI18n().messages;
  if (settings === undefined) return undefined;
  return <Badge tone={settings.enabled ? 'good' : 'neutral'}>{settings.enabled ? autoTopUp.on : autoTopUp.off}</Badge>;
};

const Settings = ({ settings, currency }: { settings: AutoTopUp; currency: string }): ReactElement => {
  const { messages, formats } = useI18n();
  const { autoTopUp } = messages;
  const [isOpen, setOpen] = useState(false);
  const amount = (micros: number): string => formats.money(micros, currency);
  const { enabled, below_micros, amount_micros, monthly_max_micros } = settings;
  return (
    <>
      {enabled && (
        <div>
          <p>{autoTopUp.rule(amount(below_micros), amount(amount_micros))}</p>
          <p className="hint">{autoTopUp.ceiling(amount(monthly_max_micros))}</p>
        </div>
      )}
      <div className="actions">
        <Button onClick={() => setOpen(true)}>{enabled ? autoTopUp.change : autoTopUp.setUp}</Button>
        {enabled && <TurnOff settings={settings} />}
      </div>
      {isOpen && <AutoTopUpDialog settings={settings} currency={currency} onClose={() => setOpen(false)} />}
    </>
  );
};

const TurnOff = ({ settings }: { settings: AutoTopUp }): ReactElement => {
  const { autoTopUp, common } = useI18n().messages;
  const toast = useToast();
  const change = useApiMutation('changeAutoTopUp', {
    refreshes: ['getAutoTopUp'],
    onDone: () => toast(autoTopUp.turnedOff),
  });
  return (
    <>
      <Button
        busyLabel={change.isPending ? common.working : undefined}
        onClick={() => change.mutate({ body: { ...settings, enabled: false } })}
      >
        {autoTopUp.turnOff}
      </Button>
      {change.isError && <ErrorNotice error={change.error} />}
    </>
  );
};

const PAGE_TRANSACTIONS = 20;

/** Changes of the wallet's balance, newest first. */
const TransactionsCard = ({ currency }: { currency: string }): ReactElement => {
  const { wallet } = useI18n().messages;
  const { call } = useApi();
  const pages = useApiPages('listWalletTransactions', (after, signal) =>
    call('listWalletTransactions', { query: { limit: PAGE_TRANSACTIONS, after } }, signal),
  );
  return (
    <PagesCard title={wallet.transactions} lead={wallet.transactionsLead} empty={wallet.noTransactions} pages={pages}>
      {(transactions) => <TransactionsTable transactions={transactions} currency={currency} />}
    </PagesCard>
  );
};

const TransactionsTable = ({
  transactions,
  currency,
}: {
  transactions: readonly ItemOf<'listWalletTransactions'>[];
  currency: string;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { wallet } = messages;
  const { columns } = wallet;
  return (
    <Table
      label={wallet.transactions}
      rows={transactions}
      keyOf={({ id }) => id}
      columns={[
        { title: columns.time, isHeader: true, render: ({ created_at }) => <Time at={created_at} exact /> },
        {
          title: columns.type,
          render: ({ type, extra_use_micros: extra = 0 }) => (
            <>
              {wallet.types[type]}
              {extra > 0 && <span className="hint"> {wallet.extraUse(formats.money(extra, currency))}</span>}
            </>
          ),
        },
        {
          title: columns.amount,
          isNumber: true,
          render: ({ amount_micros }) => <Money micros={amount_micros} currency={currency} isFine />,
        },
        {
          title: columns.balance,
          isNumber: true,
          render: ({ balance_after_micros }) => <Money micros={balance_after_micros} currency={currency} isFine />,
        },
      ]}
    />
  );
};

/** The prepaid balance of API keys. */
export const WalletPage = (): ReactElement => {
  const { messages, locale } = useI18n();
  const { wallet: texts, plans, shell } = messages;
  const [search] = useSearchParams();
  const wallet = useApiQuery('getWallet', {}, { staleTime: 0 });
  return (
    <Page title={texts.title} lead={texts.lead}>
      {search.has('cancelled') && <Notice>{texts.cancelled}</Notice>}
      <Card
        title={texts.balance}
        actions={
          <div className="button-pair">
            <Permitted to="getAlertSettings">
              <ButtonLink to="/usage/alerts" small>
                {shell.alerts}
              </ButtonLink>
            </Permitted>
            <Permitted to="getAccountWebhook">
              <ButtonLink to="/account/webhook" small>
                {shell.accountEvents}
              </ButtonLink>
            </Permitted>
          </div>
        }
      >
        <Loaded query={wallet}>{(data) => <Balance wallet={data} />}</Loaded>
      </Card>
      {wallet.data !== undefined && (
        <>
          <Permitted to="createTopUp">
            <Card
              title={texts.topUp}
              lead={texts.topUpLead}
              actions={
                <ButtonLink to={`/prices?locale=${locale}#models`} leavesConsole small>
                  {plans.allPrices}
                </ButtonLink>
              }
            >
              <TopUpForm currency={wallet.data.currency} />
            </Card>
          </Permitted>
          <Permitted to="getAutoTopUp">
            <AutoTopUpCard currency={wallet.data.currency} />
          </Permitted>
          <TransactionsCard currency={wallet.data.currency} />
          <Permitted to="listInvoices">
            <InvoicesCard />
          </Permitted>
        </>
      )}
    </Page>
  );
};

const Balance = ({ wallet }: { wallet: Answer<'getWallet'> }): ReactElement => {
  const { wallet: texts } = useI18n().messages;
  const { balance_micros, held_micros, currency } = wallet;
  return (
    <>
      <p className="figure">
        <Money micros={balance_micros} currency={currency} />
      </p>
      {held_micros > 0 && (
        <p className="hint">
          {texts.held}: <Money micros={held_micros} currency={currency} /> · {texts.available}:{' '}
          <Money micros={balance_micros - held_micros} currency={currency} />
        </p>
      )}
      {balance_micros <= 0 && <Notice tone="warn">{texts.empty}</Notice>}
    </>
  );
};
