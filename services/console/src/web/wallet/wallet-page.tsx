import type { ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { type Answer, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { InvoicesCard } from '../invoices/index.ts';
import { ButtonLink, Card, Loaded, Money, Notice, Page } from '../ui/index.ts';
import { AutoTopUpCard } from './auto-top-up-card.tsx';
import { TopUpForm } from './top-up-form.tsx';
import { TransactionsCard } from './transactions-card.tsx';

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
