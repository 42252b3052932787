import type { ExtraUsage, ValidationIssue } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { useApiMutation, useApiQuery } from './api/index.ts';
import { parseAmount, typedAmount, useI18n } from './i18n/index.ts';
import { Dialog, DialogActions } from './overlays/index.ts';
import { useToast } from './toasts/index.ts';
import {
  Badge,
  Button,
  ButtonLink,
  Card,
  checkText,
  ErrorNotice,
  Form,
  fault,
  Loaded,
  TextField,
  useForm,
} from './ui/index.ts';

const CEILING = 'monthly_max_micros';

/** Turns extra use on, or changes its monthly ceiling. */
const ExtraUsageDialog = ({
  setting: { enabled, monthly_max_micros },
  currency,
  onClose,
}: {
  setting: ExtraUsage;
  currency: string;
  onClose: () => void;
}): ReactElement => {
  const { messages, locale } = useI18n();
  const { extraUsage, common, faults } = messages;
  const toast = useToast();
  const change = useApiMutation('changeExtraUsage', { refreshes: ['getExtraUsage'] });
  const form = useForm<{ readonly [CEILING]: string }>({
    draft: 'extra-usage',
    initial: { [CEILING]: monthly_max_micros === 0 ? '' : typedAmount(monthly_max_micros, locale) },
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

/** Use beyond the limits of the plan, which the wallet pays: on or off, its ceiling, and its use this month. */
export const ExtraUsageCard = ({ currency }: { currency: string }): ReactElement => {
  const { extraUsage } = useI18n().messages;
  const setting = useApiQuery('getExtraUsage', {}, { staleTime: 0 });
  return (
    <Card title={extraUsage.title} lead={extraUsage.lead} actions={<State setting={setting.data} />}>
      <Loaded query={setting} lines={2}>
        {(data) => <Setting setting={data} currency={currency} />}
      </Loaded>
    </Card>
  );
};

const State = ({ setting }: { setting: ExtraUsage | undefined }): ReactElement | undefined => {
  const { extraUsage } = useI18n().messages;
  if (setting === undefined) return undefined;
  return <Badge tone={setting.enabled ? 'good' : 'neutral'}>{setting.enabled ? extraUsage.on : extraUsage.off}</Badge>;
};

const Setting = ({ setting, currency }: { setting: ExtraUsage; currency: string }): ReactElement => {
  const { messages, formats } = useI18n();
  const { extraUsage } = messages;
  const [isOpen, setOpen] = useState(false);
  const { enabled, monthly_max_micros, used_micros, resets_at } = setting;
  const amount = (micros: number): string => formats.money(micros, currency);
  return (
    <>
      {(enabled || used_micros > 0) && (
        <div>
          <p>{extraUsage.used(amount(used_micros), amount(monthly_max_micros))}</p>
          <p className="hint">{extraUsage.resets(formats.date(resets_at))}</p>
        </div>
      )}
      <div className="actions">
        <Button onClick={() => setOpen(true)}>{enabled ? extraUsage.change : extraUsage.setUp}</Button>
        {enabled && <TurnOff setting={setting} />}
        {enabled && <ButtonLink to="/wallet">{extraUsage.toWallet}</ButtonLink>}
      </div>
      {isOpen && <ExtraUsageDialog setting={setting} currency={currency} onClose={() => setOpen(false)} />}
    </>
  );
};

const TurnOff = ({ setting: { monthly_max_micros } }: { setting: ExtraUsage }): ReactElement => {
  const { extraUsage, common } = useI18n().messages;
  const toast = useToast();
  const change = useApiMutation('changeExtraUsage', {
    refreshes: ['getExtraUsage'],
    onDone: () => toast(extraUsage.turnedOff),
  });
  return (
    <>
      <Button
        busyLabel={change.isPending ? common.working : undefined}
        onClick={() => change.mutate({ body: { enabled: false, monthly_max_micros } })}
      >
        {extraUsage.turnOff}
      </Button>
      {change.isError && <ErrorNotice error={change.error} />}
    </>
  );
};
