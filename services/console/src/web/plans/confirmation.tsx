import type { ReactElement } from 'react';
import { ApiError, useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { Loading, Notice } from '../ui/index.ts';

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
