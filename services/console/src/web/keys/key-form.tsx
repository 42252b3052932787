import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { DialogActions } from '../overlays/index.ts';
import { Button, Form, More, SelectField, TextArea, TextField, useForm } from '../ui/index.ts';
import { checkKey, type Expiry, type KeyValues } from './key-values.ts';

const LIMITS = ['monthly_limit_micros', 'requests_per_minute', 'tokens_per_minute', 'models'] as const;

/** Renders the name, expiry and limits of a key. */
export const KeyForm = ({
  draft,
  label,
  initial,
  currency,
  submitLabel,
  busyLabel,
  submit,
}: {
  draft: string;
  label: string;
  initial: KeyValues;
  currency: string;
  submitLabel: string;
  busyLabel: string;
  submit: (values: KeyValues) => Promise<void>;
}): ReactElement => {
  const { keys, faults } = useI18n().messages;
  const form = useForm<KeyValues>({ draft, initial, check: (values) => checkKey(values, faults.amount), submit });
  const { values, set, faultOf } = form;
  const expiries: readonly Expiry[] = ['never', 'days30', 'days90', 'days365'];
  const choices = initial.expires_at === 'keep' ? (['keep', ...expiries] as const) : expiries;
  const limit = (name: 'requests_per_minute' | 'tokens_per_minute' | 'monthly_limit_micros') => ({
    optional: true,
    autoComplete: 'off',
    value: values[name],
    onChange: (text: string) => set(name, text),
    fault: faultOf(name),
  });
  return (
    <Form form={form} label={label}>
      <TextField
        label={keys.name}
        hint={keys.nameHint}
        autoComplete="off"
        value={values.name}
        onChange={(name) => set('name', name)}
        fault={faultOf('name')}
      />
      <SelectField
        label={keys.expires}
        value={values.expires_at}
        onChange={(expiry) => set('expires_at', expiry)}
        fault={faultOf('expires_at')}
        options={choices.map((value) => ({ value, label: keys.expiryChoices[value] }))}
      />
      <More
        label={keys.limitsTitle}
        hasFault={LIMITS.some((name) => faultOf(name) !== undefined)}
        isOpen={LIMITS.some((name) => initial[name] !== '')}
      >
        <TextField
          label={keys.monthlyLimit}
          hint={keys.monthlyLimitHint(currency)}
          inputMode="decimal"
          {...limit('monthly_limit_micros')}
        />
        <TextField
          label={keys.requestsPerMinute}
          hint={keys.noLimitHint}
          inputMode="numeric"
          {...limit('requests_per_minute')}
        />
        <TextField
          label={keys.tokensPerMinute}
          hint={keys.noLimitHint}
          inputMode="numeric"
          {...limit('tokens_per_minute')}
        />
        <TextArea
          label={keys.models}
          hint={keys.modelsHint}
          optional
          value={values.models}
          onChange={(models) => set('models', models)}
          fault={faultOf('models')}
        />
      </More>
      <DialogActions>
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? busyLabel : undefined}>
          {submitLabel}
        </Button>
      </DialogActions>
    </Form>
  );
};
