import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { type Answer, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { InvoicesCard } from '../invoices/index.ts';
import { ButtonLink, Card, Loaded, Notice, Page } from '../ui/index.ts';
import { AutoTopUpCard } from './auto-top-up-card.tsx';
import { TopUpForm } from './top-up-form.tsx';
import { TransactionsCard } from './transactions-card.tsx';

/** The prepaid balance of API keys. */
export const WalletPage = (): ReactElement => {
  const { wallet: texts, shell } = useI18n().messages;
  const [search] = useSearchParams();
  const wallet = useApiQuery('getWallet', {}, { staleTime: 0 });
  return (
    <Page title={texts.title} lead={texts.lead}>
      {search.has('cancelled') && <Notice>{texts.cancelled}</Notice>}
      <Card
        title={texts.balance}
        actions={
          <ButtonLink to="/usage/alerts" small>
            {shell.alerts}
          </ButtonLink>
        }
      >
        <Loaded query={wallet}>{(data) => <Balance wallet={data} />}</Loaded>
      </Card>
      {wallet.data !== undefined && (
        <>
          <Card title={texts.topUp} lead={texts.topUpLead}>
            <TopUpForm currency={wallet.data.currency} />
          </Card>
          <AutoTopUpCard currency={wallet.data.currency} />
          <TransactionsCard currency={wallet.data.currency} />
          <InvoicesCard />
        </>
      )}
    </Page>
  );
};

const Balance = ({ wallet }: { wallet: Answer<'getWallet'> }): ReactElement => {
  const { messages, formats } = useI18n();
  const { wallet: texts } = messages;
  const { balance_micros, held_micros, currency } = wallet;
  return (
    <>
      <p className="figure">{formats.shortMoney(balance_micros, currency)}</p>
      {held_micros > 0 && (
        <p className="hint">
          {texts.held}: {formats.shortMoney(held_micros, currency)} · {texts.available}:{' '}
          {formats.shortMoney(balance_micros - held_micros, currency)}
        </p>
      )}
      {balance_micros <= 0 && <Notice tone="warn">{texts.empty}</Notice>}
    </>
  );
};
