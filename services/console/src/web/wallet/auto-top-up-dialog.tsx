import type { AutoTopUp } from '@svc/contracts';
import type { ReactElement } from 'react';
import { ApiError, useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, ButtonLink, Form, TextField, useForm } from '../ui/index.ts';
import { type AutoTopUpValues, checkAutoTopUp, TOP_UP_MICROS, toAutoTopUp, valuesOf } from './top-up-values.ts';

/** Turns automatic top-ups on, or changes their limits. */
export const AutoTopUpDialog = ({
  settings,
  currency,
  onClose,
}: {
  settings: AutoTopUp;
  currency: string;
  onClose: () => void;
}): ReactElement => {
  const { messages, formats, locale } = useI18n();
  const { autoTopUp, common, faults } = messages;
  const toast = useToast();
  const change = useApiMutation('changeAutoTopUp', { refreshes: ['getAutoTopUp'] });
  const form = useForm<AutoTopUpValues>({
    draft: 'auto-top-up',
    initial: valuesOf(settings, locale),
    check: (values) =>
      checkAutoTopUp(values, {
        notAnAmount: faults.amount,
        tooLittle: faults.atLeast(formats.money(TOP_UP_MICROS.min, currency)),
        tooMuch: faults.atMost(formats.money(TOP_UP_MICROS.max, currency)),
        belowOneTopUp: autoTopUp.belowOneTopUp,
      }),
    submit: async (values) => {
      await change.mutateAsync({ body: toAutoTopUp(values) });
      toast(settings.enabled ? autoTopUp.changed : autoTopUp.turnedOn);
      onClose();
    },
  });
  const field = (name: keyof AutoTopUpValues) => ({
    inputMode: 'decimal' as const,
    autoComplete: 'off',
    value: form.values[name],
    onChange: (text: string) => form.set(name, text),
    fault: form.faultOf(name),
  });
  const submitLabel = settings.enabled ? common.save : autoTopUp.turnOn;
  return (
    <Dialog onClose={onClose} title={autoTopUp.title}>
      <Form form={form} label={autoTopUp.title}>
        {isMethodMissing(form.error) && (
          <ButtonLink to="/plans" small>
            {autoTopUp.toPlans}
          </ButtonLink>
        )}
        <TextField label={autoTopUp.below(currency)} {...field('below_micros')} />
        <TextField label={autoTopUp.amount(currency)} {...field('amount_micros')} />
        <TextField
          label={autoTopUp.monthlyMax(currency)}
          hint={autoTopUp.monthlyMaxHint}
          {...field('monthly_max_micros')}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? common.working : undefined}>
            {submitLabel}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

const isMethodMissing = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'payment_method_missing';
