import { type ReactElement, useState } from 'react';
import { useApiMutation } from '../api/index.ts';
import { parseAmount, useI18n } from '../i18n/index.ts';
import { ownUrl } from '../organization-address.ts';
import { goTo } from '../subscription.tsx';
import { Button, Form, TextField, useForm } from '../ui/index.ts';
import { checkTopUp, TOP_UP_MICROS } from './top-up-values.ts';

const PRESETS = ['10', '25', '50', '100'] as const;
const MICROS_PER_UNIT = 1_000_000;

/** Chooses an amount and goes to the checkout. */
export const TopUpForm = ({ currency }: { currency: string }): ReactElement => {
  const { messages, formats } = useI18n();
  const { wallet, faults } = messages;
  const topUp = useApiMutation('createTopUp');
  const [isLeaving, setLeaving] = useState(false);
  const min = formats.money(TOP_UP_MICROS.min, currency);
  const max = formats.money(TOP_UP_MICROS.max, currency);
  const form = useForm({
    draft: 'top-up',
    initial: { amount_micros: '25' },
    check: ({ amount_micros }) =>
      checkTopUp(amount_micros, {
        notAnAmount: faults.amount,
        tooLittle: faults.atLeast(min),
        tooMuch: faults.atMost(max),
      }),
    submit: async ({ amount_micros }) => {
      const { url } = await topUp.mutateAsync({
        body: {
          amount_micros: parseAmount(amount_micros) ?? 0,
          success_url: ownUrl('/wallet/return'),
          cancel_url: ownUrl('/wallet?cancelled=1'),
        },
      });
      setLeaving(true);
      goTo(url);
    },
  });
  return (
    <Form form={form} label={wallet.topUp}>
      <fieldset className="presets">
        <legend className="visually-hidden">{wallet.presets}</legend>
        {PRESETS.map((amount) => (
          <button
            key={amount}
            type="button"
            className="preset"
            aria-pressed={form.values.amount_micros === amount}
            onClick={() => form.set('amount_micros', amount)}
          >
            {formats.money(Number(amount) * MICROS_PER_UNIT, currency)}
          </button>
        ))}
      </fieldset>
      <TextField
        label={wallet.amount}
        hint={wallet.amountHint(currency, min, max)}
        inputMode="decimal"
        autoComplete="off"
        value={form.values.amount_micros}
        onChange={(amount) => form.set('amount_micros', amount)}
        fault={form.faultOf('amount_micros')}
      />
      <Button type="submit" variant="primary" busyLabel={form.isBusy || isLeaving ? wallet.paying : undefined}>
        {wallet.pay}
      </Button>
    </Form>
  );
};
