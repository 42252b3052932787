import type { ExtraUsage, ValidationIssue } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { parseAmount, typedAmount, useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkText, Form, fault, TextField, useForm } from '../ui/index.ts';

const CEILING = 'monthly_max_micros';

/** Turns extra use on, or changes its monthly ceiling. */
export const ExtraUsageDialog = ({
  setting: { enabled, monthly_max_micros },
  currency,
  onClose,
}: {
  setting: ExtraUsage;
  currency: string;
  onClose: () => void;
}): ReactElement => {
  const { extraUsage, common, faults } = useI18n().messages;
  const toast = useToast();
  const change = useApiMutation('changeExtraUsage', { refreshes: ['getExtraUsage'] });
  const form = useForm<{ readonly [CEILING]: string }>({
    draft: 'extra-usage',
    initial: { [CEILING]: monthly_max_micros === 0 ? '' : typedAmount(monthly_max_micros) },
    check: (values) => checkCeiling(values[CEILING], faults.amount),
    submit: async (values) => {
      await change.mutateAsync({ body: { enabled: true, monthly_max_micros: parseAmount(values[CEILING]) ?? 0 } });
      toast(enabled ? extraUsage.changed : extraUsage.turnedOn);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title={extraUsage.title}>
      <Form form={form} label={extraUsage.title}>
        <TextField
          label={extraUsage.monthlyMax(currency)}
          hint={extraUsage.monthlyMaxHint}
          inputMode="decimal"
          autoComplete="off"
          value={form.values[CEILING]}
          onChange={(text) => form.set(CEILING, text)}
          fault={form.faultOf(CEILING)}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? common.working : undefined}>
            {enabled ? common.save : extraUsage.turnOn}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};

const checkCeiling = (text: string, notAnAmount: string): ValidationIssue[] => {
  const missing = checkText(CEILING, text, { required: true });
  if (missing.length > 0 || (parseAmount(text) ?? 0) > 0) return missing;
  return [fault(CEILING, notAnAmount)];
};
