import type { AlertSettings } from '@svc/contracts';
import { type ReactElement, useId } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Form, type FormState, TextField, useForm } from '../ui/index.ts';
import { type AlertValues, addTyped, checkAlerts, checkTyped, toggle, toSettings, valuesOf } from './alert-values.ts';

/** Edits the thresholds of limits and of the wallet. */
export const AlertsForm = ({ settings, currency }: { settings: AlertSettings; currency: string }): ReactElement => {
  const { messages } = useI18n();
  const { alerts, common } = messages;
  const toast = useToast();
  const change = useApiMutation('changeAlertSettings', { refreshes: ['getAlertSettings'] });
  const form = useForm<AlertValues>({
    draft: 'alerts',
    initial: valuesOf(settings),
    check: (values) => checkAlerts(values, messages),
    submit: async (values) => {
      form.reset(valuesOf(await change.mutateAsync({ body: toSettings(values) })));
      toast(alerts.saved);
    },
  });
  return (
    <Form form={form} label={alerts.card}>
      <Thresholds form={form} />
      <TextField
        label={alerts.wallet(currency)}
        hint={alerts.walletHint}
        optional
        inputMode="decimal"
        autoComplete="off"
        value={form.values.wallet_below_micros}
        onChange={(amount) => form.set('wallet_below_micros', amount)}
        fault={form.faultOf('wallet_below_micros')}
      />
      <Button type="submit" variant="primary" busyLabel={form.isBusy ? common.working : undefined}>
        {common.save}
      </Button>
    </Form>
  );
};

const Thresholds = ({ form }: { form: FormState<AlertValues> }): ReactElement => {
  const { messages, formats } = useI18n();
  const { alerts } = messages;
  const hint = useId();
  const { values, set, reset, faultOf } = form;
  const canAdd = values.another.trim() !== '' && checkTyped(values, alerts).length === 0;
  return (
    <fieldset className="group" aria-describedby={hint}>
      <legend>{alerts.thresholds}</legend>
      <p id={hint} className="hint">
        {values.thresholds_percent.length === 0 ? alerts.noThresholds : alerts.thresholdsHint}
      </p>
      <div className="presets">
        {values.offered.map((percent) => (
          <button
            key={percent}
            type="button"
            className="preset"
            aria-pressed={values.thresholds_percent.includes(percent)}
            onClick={() => set('thresholds_percent', toggle(values, percent))}
          >
            {formats.percent(percent)}
          </button>
        ))}
      </div>
      <div className="line">
        <TextField
          label={alerts.another}
          labelHidden
          placeholder={alerts.another}
          inputMode="numeric"
          autoComplete="off"
          value={values.another}
          onChange={(another) => set('another', another)}
          fault={faultOf('another')}
        />
        <Button disabled={!canAdd} onClick={() => reset(addTyped(values))}>
          {alerts.add}
        </Button>
      </div>
    </fieldset>
  );
};
