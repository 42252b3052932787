import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { type Answer, ApiError, useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { ButtonLink, EmptyState, ErrorNotice, Loading, Notice, Page } from '../ui/index.ts';

const CONFIRMATIONS_MAX = 4;

/** Confirms a purchase after the checkout. Confirmation is idempotent, so the page may be reloaded. */
export const ReturnPage = (): ReactElement => {
  const { plans } = useCoreI18n().messages;
  const [search] = useSearchParams();
  const sessionId = search.get('session_id') ?? '';
  return (
    <Page title={plans.returnTitle}>
      {sessionId === '' ? (
        <EmptyState
          icon="plan"
          title={plans.noSessionTitle}
          text={plans.noSessionText}
          action={<ButtonLink to="/plans">{plans.toPlans}</ButtonLink>}
        />
      ) : (
        <Confirmation sessionId={sessionId} />
      )}
    </Page>
  );
};

const Confirmation = ({ sessionId }: { sessionId: string }): ReactElement => {
  const { plans } = useCoreI18n().messages;
  const queries = useQueryClient();
  const confirmation = useApiQuery(
    'confirmCheckout',
    { body: { session_id: sessionId } },
    {
      staleTime: Number.POSITIVE_INFINITY,
      // The payment may reach the service slightly later than the person reaches this page.
      retry: (failures, error) => failures < CONFIRMATIONS_MAX && error instanceof ApiError && isPassing(error),
    },
  );
  const isConfirmed = confirmation.isSuccess;
  useEffect(() => {
    if (!isConfirmed) return;
    for (const operation of ['getSubscription', 'getSubscriptionUsage', 'getWallet']) {
      void queries.invalidateQueries({ queryKey: [operation] });
    }
  }, [isConfirmed, queries]);
  if (confirmation.isPending) {
    return (
      <>
        <Notice title={plans.confirming}>
          <p>{plans.confirmingHint}</p>
        </Notice>
        <Loading lines={2} />
      </>
    );
  }
  if (confirmation.isError) {
    return (
      <>
        <ErrorNotice error={confirmation.error} onRetry={() => void confirmation.refetch()} />
        <div className="actions">
          <ButtonLink to="/plans">{plans.toPlans}</ButtonLink>
          <ButtonLink to="/wallet">{plans.toWallet}</ButtonLink>
        </div>
      </>
    );
  }
  return <Confirmed bought={confirmation.data} />;
};

const isPassing = (error: ApiError): boolean => error.isTransient || error.code === 'checkout_not_completed';

const Confirmed = ({ bought }: { bought: Answer<'confirmCheckout'> }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { plans } = messages;
  const { subscription, wallet } = bought;
  return (
    <>
      <Notice tone="good" title={plans.confirmedTitle}>
        {wallet !== undefined ? (
          <p>{plans.confirmedWallet(formats.shortMoney(wallet.balance_micros, wallet.currency))}</p>
        ) : (
          subscription !== null && (
            <p>
              {plans.confirmedPlan(subscription.plan.name)} {plans.nextConnect}
            </p>
          )
        )}
      </Notice>
      <div className="actions">
        {wallet === undefined ? (
          <ButtonLink to="/" variant="primary">
            {plans.toOverview}
          </ButtonLink>
        ) : (
          <>
            <ButtonLink to="/keys" variant="primary">
              {plans.nextKey}
            </ButtonLink>
            <ButtonLink to="/wallet">{plans.toWallet}</ButtonLink>
          </>
        )}
      </div>
    </>
  );
};
