import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { type ItemOf, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Confirming, useConfirmation } from '../plans/index.ts';
import { usePlans } from '../subscription/index.ts';
import { Button, ButtonLink, Card, ErrorNotice, Loaded, Notice, Page } from '../ui/index.ts';
import { ChangeSeatsDialog } from './change-seats-dialog.tsx';

type Plan = ItemOf<'listPlans'>;
type Seats = ItemOf<'listSeats'>;

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
          const label = quantity === 0 ? texts.buy : texts.change;
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
                  <Button small aria-label={`${label}: ${plan.name}`} onClick={() => setChanged(plan)}>
                    {label}
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

/** Confirms the purchase of seats after the checkout. */
const Confirmation = ({ sessionId }: { sessionId: string }): ReactElement => {
  const { seats: texts } = useI18n().messages;
  const queries = useQueryClient();
  const confirmation = useConfirmation(sessionId);
  const { isSuccess } = confirmation;
  useEffect(() => {
    if (isSuccess) void queries.invalidateQueries({ queryKey: ['listSeats'] });
  }, [isSuccess, queries]);
  if (confirmation.isPending) return <Confirming />;
  if (confirmation.isError) {
    return <ErrorNotice error={confirmation.error} onRetry={() => void confirmation.refetch()} />;
  }
  return <Notice tone="good">{texts.bought}</Notice>;
};
