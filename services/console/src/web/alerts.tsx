import type { AlertSettings, Locale, ValidationIssue } from '@svc/contracts';
import { type ReactElement, useId } from 'react';
import { useApiMutation, useApiQuery } from './api/index.ts';
import { type Messages, parseAmount, typedAmount, useI18n } from './i18n/index.ts';
import { currencyOf, usePlans } from './subscription.tsx';
import { useToast } from './toasts/index.ts';
import { Button, Card, Form, type FormState, fault, Loaded, Page, TextField, useForm } from './ui/index.ts';

/** The form of alerts, as typed. */
export interface AlertValues {
  /** Percentages to choose from, ascending. */
  readonly offered: readonly number[];
  readonly thresholds_percent: readonly number[];
  /** A percentage to add. */
  readonly another: string;
  /** Empty if there is no alert. */
  readonly wallet_below_micros: string;
}

const USUAL_PERCENT = [50, 75, 80, 90, 100] as const;
const THRESHOLDS_MAX = 20;

const sorted = (percents: Iterable<number>): number[] => [...new Set(percents)].sort((one, other) => one - other);

export const valuesOf = ({ thresholds_percent, wallet_below_micros }: AlertSettings, locale: Locale): AlertValues => ({
  offered: sorted([...USUAL_PERCENT, ...thresholds_percent]),
  thresholds_percent,
  another: '',
  wallet_below_micros: wallet_below_micros === null ? '' : typedAmount(wallet_below_micros, locale),
});

/** Selects a percentage, or deselects it. */
export const toggle = (values: AlertValues, percent: number): readonly number[] =>
  values.thresholds_percent.includes(percent)
    ? values.thresholds_percent.filter((chosen) => chosen !== percent)
    : sorted([...values.thresholds_percent, percent]);

/** Adds and selects the typed percentage. Without one, returns the values unchanged. */
export const addTyped = (values: AlertValues): AlertValues => {
  const percent = parsePercent(values.another);
  if (percent === undefined) return values;
  return {
    ...values,
    offered: sorted([...values.offered, percent]),
    thresholds_percent: sorted([...values.thresholds_percent, percent]),
    another: '',
  };
};

/** Returns the faults of the typed percentage. */
export const checkTyped = (values: AlertValues, { notAPercentage, tooMany }: Messages['alerts']): ValidationIssue[] => {
  if (values.another.trim() === '') return [];
  if (parsePercent(values.another) === undefined) return [fault('another', notAPercentage)];
  const count = addTyped(values).thresholds_percent.length;
  return count > THRESHOLDS_MAX ? [fault('another', tooMany(THRESHOLDS_MAX))] : [];
};

export const checkAlerts = (values: AlertValues, { alerts, faults }: Messages): ValidationIssue[] => [
  ...checkTyped(values, alerts),
  ...(values.wallet_below_micros.trim() === '' || (parseAmount(values.wallet_below_micros) ?? 0) > 0
    ? []
    : [fault('wallet_below_micros', faults.amount)]),
];

/** Returns the settings of a form, including a typed percentage that is not added yet. */
export const toSettings = (values: AlertValues): AlertSettings => ({
  thresholds_percent: [...addTyped(values).thresholds_percent],
  wallet_below_micros: parseAmount(values.wallet_below_micros) ?? null,
});

const parsePercent = (text: string): number | undefined => {
  const percent = /^\s*(\d{1,3})\s*%?\s*$/.exec(text)?.[1];
  return percent === undefined || Number(percent) < 1 || Number(percent) > 100 ? undefined : Number(percent);
};

/** Edits the thresholds of limits and of the wallet. */
export const AlertsForm = ({ settings, currency }: { settings: AlertSettings; currency: string }): ReactElement => {
  const { messages, locale } = useI18n();
  const { alerts, common } = messages;
  const toast = useToast();
  const change = useApiMutation('changeAlertSettings', { refreshes: ['getAlertSettings'] });
  const form = useForm<AlertValues>({
    draft: 'alerts',
    initial: valuesOf(settings, locale),
    check: (values) => checkAlerts(values, messages),
    submit: async (values) => {
      form.reset(valuesOf(await change.mutateAsync({ body: toSettings(values) }), locale));
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

/** Shows the thresholds at which the account gets mails about its limits. */
export const AlertsPage = (): ReactElement => {
  const { alerts } = useI18n().messages;
  const settings = useApiQuery('getAlertSettings', {}, { staleTime: 0 });
  const plans = usePlans();
  return (
    <Page title={alerts.title} lead={alerts.lead}>
      <Card title={alerts.card} lead={alerts.cardLead}>
        <Loaded query={settings} lines={5}>
          {(data) => <AlertsForm settings={data} currency={currencyOf(plans.data?.data, null)} />}
        </Loaded>
      </Card>
    </Page>
  );
};
