import { useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { Permitted } from '../access/index.ts';
import { type ItemOf, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { Confirming, useConfirmation } from '../plans/index.ts';
import { goTo, usePlans } from '../subscription.tsx';
import { useToast } from '../toasts/index.ts';
import {
  Button,
  ButtonLink,
  Card,
  checkInteger,
  checkText,
  ErrorNotice,
  Form,
  fault,
  Loaded,
  Notice,
  Page,
  TextField,
  useForm,
} from '../ui/index.ts';

const SEATS_MAX = 10_000;

/** Changes the number of seats of a plan. The first ones are paid at the payment provider's page. */
const ChangeSeatsDialog = ({
  plan,
  seats,
  onClose,
}: {
  plan: ItemOf<'listPlans'>;
  seats: ItemOf<'listSeats'>;
  onClose: () => void;
}): ReactElement => {
  const { seats: texts, common, plans, errors } = useI18n().messages;
  const toast = useToast();
  const change = useApiMutation('changeSeats', { refreshes: ['listSeats'] });
  const form = useForm({
    initial: { quantity: String(Math.max(seats.quantity, 1)) },
    check: ({ quantity }) => [
      ...checkText('quantity', quantity, { required: true }),
      ...checkInteger('quantity', quantity, { min: 0, max: SEATS_MAX }),
    ],
    submit: async ({ quantity }) => {
      const answer = await change.mutateAsync({ body: { plan_id: plan.id, quantity: Number(quantity) } });
      if ('url' in answer) {
        goTo(answer.url);
        return;
      }
      toast(texts.changed(plan.name));
      onClose();
    },
    faultFor: ({ code }) => (code === 'seats_assigned' ? fault('quantity', errors.next.seats_assigned) : undefined),
  });
  const title = texts.changeOf(plan.name);
  const isLeaving = change.data !== undefined && 'url' in change.data;
  return (
    <Dialog onClose={onClose} title={title}>
      <p>{seats.quantity === 0 ? texts.firstText : texts.laterText}</p>
      <Form form={form} label={title}>
        <TextField
          label={texts.quantity}
          hint={texts.inUse(seats.assigned)}
          inputMode="numeric"
          autoComplete="off"
          value={form.values.quantity}
          onChange={(quantity) => form.set('quantity', quantity)}
          fault={form.faultOf('quantity')}
        />
        <DialogActions>
          <Button
            type="submit"
            variant="primary"
            busyLabel={isLeaving ? plans.opening : form.isBusy ? common.working : undefined}
          >
            {seats.quantity === 0 ? texts.toCheckout : common.save}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

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
