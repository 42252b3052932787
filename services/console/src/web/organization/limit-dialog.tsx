import type { ReactElement } from 'react';
import { type ItemOf, useApiMutation, useApiQuery } from '../api/index.ts';
import { parseAmount, typedAmount, useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Form, fault, Loaded, TextField, useForm } from '../ui/index.ts';

const FALLBACK_CURRENCY = 'EUR';

/** Limits what all API keys of a member may spend in a month. */
export const LimitDialog = ({
  member,
  onClose,
}: {
  member: ItemOf<'listMembers'>;
  onClose: () => void;
}): ReactElement => {
  const { members } = useI18n().messages;
  const { svc_user_id } = member;
  const limit = useApiQuery('getMemberLimit', { params: { svc_user_id } }, { staleTime: 0 });
  return (
    <Dialog onClose={onClose} title={members.limitTitle(member.name)}>
      <p>{members.limitText}</p>
      <Loaded query={limit} lines={3}>
        {({ monthly_limit_micros: present }) => (
          // Begins anew if the limit has changed since it was last read.
          <LimitForm key={present} member={member} present={present} onClose={onClose} />
        )}
      </Loaded>
    </Dialog>
  );
};

const LimitForm = ({
  member: { svc_user_id, name },
  present,
  onClose,
}: {
  member: ItemOf<'listMembers'>;
  present: number | null;
  onClose: () => void;
}): ReactElement => {
  const { messages, formats, locale } = useI18n();
  const { members, keys, common, faults } = messages;
  const toast = useToast();
  const currency = useApiQuery('getWallet', {}).data?.currency ?? FALLBACK_CURRENCY;
  const change = useApiMutation('changeMemberLimit');
  const form = useForm({
    initial: { monthly_limit_micros: present === null ? '' : typedAmount(present, locale) },
    check: ({ monthly_limit_micros: text }) =>
      text.trim() === '' || parseAmount(text) !== undefined ? [] : [fault('monthly_limit_micros', faults.amount)],
    submit: async ({ monthly_limit_micros: text }) => {
      const limit = parseAmount(text) ?? null;
      await change.mutateAsync({ params: { svc_user_id }, body: { monthly_limit_micros: limit } });
      toast(limit === null ? members.limitRemoved(name) : members.limitSet(name, formats.money(limit, currency)));
      onClose();
    },
  });
  return (
    <Form form={form} label={members.limitTitle(name)}>
      <TextField
        label={keys.monthlyLimit}
        hint={keys.monthlyLimitHint(currency)}
        inputMode="decimal"
        autoComplete="off"
        value={form.values.monthly_limit_micros}
        onChange={(text) => form.set('monthly_limit_micros', text)}
        fault={form.faultOf('monthly_limit_micros')}
      />
      <DialogActions>
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? common.working : undefined}>
          {common.save}
        </Button>
      </DialogActions>
    </Form>
  );
};
