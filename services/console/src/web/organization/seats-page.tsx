import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { ApiError, type ItemOf, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { usePlans } from '../subscription/index.ts';
import { Button, ButtonLink, Card, ErrorNotice, Loaded, Loading, Notice, Page } from '../ui/index.ts';
import { ChangeSeatsDialog } from './change-seats-dialog.tsx';

type Plan = ItemOf<'listPlans'>;
type Seats = ItemOf<'listSeats'>;

const CONFIRMATIONS_MAX = 4;

/** Lists the plans that the organization can pay for members, with the number of seats. */
export const SeatsPage = (): ReactElement => {
  const { seats: texts } = useI18n().messages;
  const [search] = useSearchParams();
  const sessionId = search.get('session_id');
  const seats = useApiQuery('listSeats', {}, { staleTime: 0 });
  const plans = usePlans();
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={<ButtonLink to="/organization/members">{texts.toMembers}</ButtonLink>}
    >
      {search.has('cancelled') && <Notice>{texts.cancelled}</Notice>}
      {sessionId !== null && <Confirmation sessionId={sessionId} />}
      <Card title={texts.byPlan}>
        <Loaded query={seats} lines={4}>
          {({ data }) => (
            <Loaded query={plans} lines={4}>
              {(offer) => <SeatRows plans={offer.data} seats={data} />}
            </Loaded>
          )}
        </Loaded>
      </Card>
    </Page>
  );
};

const SeatRows = ({ plans, seats }: { plans: readonly Plan[]; seats: readonly Seats[] }): ReactElement => {
  const { messages, formats } = useI18n();
  const { seats: texts, plans: planTexts } = messages;
  const [changed, setChanged] = useState<Plan>();
  const seatsOf = (planId: string): Seats =>
    seats.find(({ plan_id }) => plan_id === planId) ?? { plan_id: planId, quantity: 0, assigned: 0 };
  return (
    <>
      <ul className="rows">
        {plans.map((plan) => {
          const { quantity, assigned } = seatsOf(plan.id);
          const price = formats.money(plan.price.amount_micros, plan.price.currency);
          return (
            <li key={plan.id} className="row">
              <div className="row-text">
                <p className="row-title">{plan.name}</p>
                <p className="hint">
                  {texts.each(price)} {plan.price.interval === 'month' ? planTexts.perMonth : planTexts.perYear}
                </p>
                <p>{quantity === 0 ? texts.none : texts.count(quantity, assigned)}</p>
              </div>
              <Permitted to="changeSeats">
                <span className="row-end">
                  <Button small aria-label={texts.changeOf(plan.name)} onClick={() => setChanged(plan)}>
                    {quantity === 0 ? texts.buy : texts.change}
                  </Button>
                </span>
              </Permitted>
            </li>
          );
        })}
      </ul>
      {changed !== undefined && (
        <ChangeSeatsDialog plan={changed} seats={seatsOf(changed.id)} onClose={() => setChanged(undefined)} />
      )}
    </>
  );
};

/** Confirms a purchase after the checkout. Confirmation is idempotent, so the page may be reloaded. */
const Confirmation = ({ sessionId }: { sessionId: string }): ReactElement => {
  const { seats: texts, plans } = useI18n().messages;
  const queries = useQueryClient();
  const confirmation = useApiQuery(
    'confirmCheckout',
    { body: { session_id: sessionId } },
    {
      staleTime: Number.POSITIVE_INFINITY,
      // The payment may reach the service slightly later than the person reaches this page.
      retry: (failures, error) =>
        failures < CONFIRMATIONS_MAX &&
        error instanceof ApiError &&
        (error.isTransient || error.code === 'checkout_not_completed'),
    },
  );
  const { isSuccess } = confirmation;
  useEffect(() => {
    if (isSuccess) void queries.invalidateQueries({ queryKey: ['listSeats'] });
  }, [isSuccess, queries]);
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
    return <ErrorNotice error={confirmation.error} onRetry={() => void confirmation.refetch()} />;
  }
  return <Notice tone="good">{texts.bought}</Notice>;
};
