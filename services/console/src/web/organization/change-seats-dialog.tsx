import type { ReactElement } from 'react';
import { type ItemOf, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { goTo } from '../subscription/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkInteger, checkText, Form, fault, TextField, useForm } from '../ui/index.ts';

const SEATS_MAX = 10_000;

/** Changes the number of seats of a plan. The first ones are paid at the payment provider's page. */
export const ChangeSeatsDialog = ({
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
