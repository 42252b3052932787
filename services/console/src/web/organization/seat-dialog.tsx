import type { ReactElement } from 'react';
import { type ItemOf, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { usePlans } from '../subscription.tsx';
import { useToast } from '../toasts/index.ts';
import { Button, ButtonLink, Form, Loaded, SelectField, useForm } from '../ui/index.ts';

interface SeatDialogProps {
  readonly member: ItemOf<'listMembers'>;
  readonly onClose: () => void;
}

/** Gives a member a seat, or takes it away. */
export const SeatDialog = (props: SeatDialogProps): ReactElement => {
  const { members } = useI18n().messages;
  const seats = useApiQuery('listSeats', {}, { staleTime: 0 });
  return (
    <Dialog onClose={props.onClose} title={members.seatTitle(props.member.name)}>
      <Loaded query={seats} lines={2}>
        {({ data }) => <SeatForm {...props} seats={data} />}
      </Loaded>
    </Dialog>
  );
};

const SeatForm = ({
  member: { svc_user_id, name, seat },
  onClose,
  seats,
}: SeatDialogProps & { seats: readonly ItemOf<'listSeats'>[] }): ReactElement => {
  const { members, common } = useI18n().messages;
  const plans = usePlans();
  const toast = useToast();
  const assign = useApiMutation('assignSeat', { refreshes: ['listMembers', 'listSeats'] });
  const form = useForm({
    initial: { plan_id: seat ?? '' },
    submit: async ({ plan_id }) => {
      await assign.mutateAsync({ params: { svc_user_id }, body: { plan_id: plan_id === '' ? null : plan_id } });
      toast(plan_id === '' ? members.seatTaken(name) : members.seatGiven(name));
      onClose();
    },
  });
  const bought = seats.filter(({ quantity, plan_id }) => quantity > 0 || plan_id === seat);
  if (bought.length === 0) {
    return (
      <>
        <p>{members.noSeats}</p>
        <ButtonLink to="/organization/seats">{members.toSeats}</ButtonLink>
      </>
    );
  }
  return (
    <Form form={form} label={members.seatTitle(name)}>
      <SelectField
        label={members.columns.seat}
        hint={members.seatHint}
        value={form.values.plan_id}
        onChange={(planId) => form.set('plan_id', planId)}
        options={[
          { value: '', label: members.noSeat },
          ...bought.map(({ plan_id: id, quantity, assigned }) => ({
            value: id,
            label: members.seatsLeft(plans.data?.data.find((plan) => plan.id === id)?.name ?? id, quantity - assigned),
          })),
        ]}
      />
      <DialogActions>
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? common.working : undefined}>
          {common.save}
        </Button>
      </DialogActions>
    </Form>
  );
};
