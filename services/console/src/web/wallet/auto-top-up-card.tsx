import type { AutoTopUp } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Badge, Button, Card, ErrorNotice, Loaded } from '../ui/index.ts';
import { AutoTopUpDialog } from './auto-top-up-dialog.tsx';

/** Automatic top-ups from the saved payment method: on or off, and within which limits. */
export const AutoTopUpCard = ({ currency }: { currency: string }): ReactElement => {
  const { autoTopUp } = useI18n().messages;
  const settings = useApiQuery('getAutoTopUp', {}, { staleTime: 0 });
  return (
    <Card title={autoTopUp.title} lead={autoTopUp.lead} actions={<State settings={settings.data} />}>
      <Loaded query={settings} lines={2}>
        {(data) => <Settings settings={data} currency={currency} />}
      </Loaded>
    </Card>
  );
};

const State = ({ settings }: { settings: AutoTopUp | undefined }): ReactElement | undefined => {
  const { autoTopUp } = useI18n().messages;
  if (settings === undefined) return undefined;
  return <Badge tone={settings.enabled ? 'good' : 'neutral'}>{settings.enabled ? autoTopUp.on : autoTopUp.off}</Badge>;
};

const Settings = ({ settings, currency }: { settings: AutoTopUp; currency: string }): ReactElement => {
  const { messages, formats } = useI18n();
  const { autoTopUp } = messages;
  const [isOpen, setOpen] = useState(false);
  const amount = (micros: number): string => formats.money(micros, currency);
  const { enabled, below_micros, amount_micros, monthly_max_micros } = settings;
  return (
    <>
      {enabled && (
        <div>
          <p>{autoTopUp.rule(amount(below_micros), amount(amount_micros))}</p>
          <p className="hint">{autoTopUp.ceiling(amount(monthly_max_micros))}</p>
        </div>
      )}
      <div className="actions">
        <Button onClick={() => setOpen(true)}>{enabled ? autoTopUp.change : autoTopUp.setUp}</Button>
        {enabled && <TurnOff settings={settings} />}
      </div>
      {isOpen && <AutoTopUpDialog settings={settings} currency={currency} onClose={() => setOpen(false)} />}
    </>
  );
};

const TurnOff = ({ settings }: { settings: AutoTopUp }): ReactElement => {
  const { autoTopUp, common } = useI18n().messages;
  const toast = useToast();
  const change = useApiMutation('changeAutoTopUp', {
    refreshes: ['getAutoTopUp'],
    onDone: () => toast(autoTopUp.turnedOff),
  });
  return (
    <>
      <Button
        busyLabel={change.isPending ? common.working : undefined}
        onClick={() => change.mutate({ body: { ...settings, enabled: false } })}
      >
        {autoTopUp.turnOff}
      </Button>
      {change.isError && <ErrorNotice error={change.error} />}
    </>
  );
};
