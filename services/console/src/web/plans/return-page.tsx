import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { type Answer, ApiError, useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { goTo, usePlans } from '../subscription.tsx';
import { ButtonLink, EmptyState, ErrorNotice, Facts, Loading, Notice, Page } from '../ui/index.ts';

/** Pages that ask a person to connect an app or a device, and send those without a plan here. */
const ASKING_PAGE = /^\/v1\/integrations\/oauth\/(authorize|device)\?[!-[\]-~]*$/;
/** Longest address that the checkout leads back to. */
const URL_CHARACTERS_MAX = 2_048;

/** Returns the page that asked, to which the choice of a plan leads back. */
export const readReturnTarget = (search: URLSearchParams): string | undefined => {
  const next = search.get('next');
  return next !== null && ASKING_PAGE.test(next) ? next : undefined;
};

/** Adds the page that asked to an address of ours, if the address does not get too long. */
export const withReturnTarget = (url: string, target: string | undefined): string => {
  if (target === undefined) return url;
  const extended = new URL(url);
  extended.searchParams.set('next', target);
  return extended.href.length > URL_CHARACTERS_MAX ? url : extended.href;
};

const CONFIRMATIONS_MAX = 4;

const isPassing = (error: ApiError): boolean => error.isTransient || error.code === 'checkout_not_completed';

/** Confirms a purchase after the checkout. Confirmation is idempotent, so the page may be reloaded. */
export const useConfirmation = (sessionId: string) =>
  useApiQuery(
    'confirmCheckout',
    { body: { session_id: sessionId } },
    {
      staleTime: Number.POSITIVE_INFINITY,
      // The payment may reach the service slightly later than the person reaches this page.
      retry: (failures, error) => failures < CONFIRMATIONS_MAX && error instanceof ApiError && isPassing(error),
    },
  );

/** Shows that the payment is being confirmed. */
export const Confirming = (): ReactElement => {
  const { plans } = useCoreI18n().messages;
  return (
    <>
      <Notice title={plans.confirming}>
        <p>{plans.confirmingHint}</p>
      </Notice>
      <Loading lines={2} />
    </>
  );
};

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
  const confirmation = useConfirmation(sessionId);
  const isConfirmed = confirmation.isSuccess;
  const [search] = useSearchParams();
  const returnTarget = readReturnTarget(search);
  useEffect(() => {
    if (!isConfirmed) return;
    for (const operation of ['getSubscription', 'getSubscriptionUsage', 'getWallet']) {
      void queries.invalidateQueries({ queryKey: [operation] });
    }
    if (returnTarget !== undefined) goTo(new URL(returnTarget, window.location.origin).href);
  }, [isConfirmed, queries, returnTarget]);
  if (confirmation.isPending) return <Confirming />;
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

const Confirmed = ({ bought }: { bought: Answer<'confirmCheckout'> }): ReactElement => {
  const { messages, formats, locale } = useCoreI18n();
  const { plans, firstSteps } = messages;
  const { subscription, wallet } = bought;
  const offer = usePlans();
  const price = offer.data?.data.find(({ id }) => id === subscription?.plan.id)?.price;
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
      {wallet === undefined && subscription !== null && (
        <Facts
          items={[
            [plans.title, subscription.plan.name],
            ...(price === undefined
              ? []
              : [
                  [
                    plans.price,
                    `${formats.money(price.amount_micros, price.currency)} ${price.interval === 'month' ? plans.perMonth : plans.perYear}`,
                  ] as const,
                ]),
            [plans.nextCharge, formats.date(subscription.current_period_end)],
          ]}
        />
      )}
      <div className="actions">
        {wallet === undefined ? (
          <>
            <ButtonLink to={`/sample-app?locale=${locale}`} variant="primary" leavesConsole>
              {firstSteps.acts.connect}
            </ButtonLink>
            <ButtonLink to="/">{plans.toOverview}</ButtonLink>
            <ButtonLink to="/plans">{plans.toInvoice}</ButtonLink>
          </>
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
