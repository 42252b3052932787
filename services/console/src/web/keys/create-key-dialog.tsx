import { type ReactElement, useState } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, Dialog, Form, Secret, SelectField, TextField, useForm } from '../ui/index.ts';
import { checkNewKey, type NewKeyValues, toCreateKey } from './new-key.ts';

const EMPTY: NewKeyValues = { name: '', expires_at: 'never', requests_per_minute: '', monthly_limit_micros: '' };

/** Creates a key and shows it once. Then the dialog closes only by its button, so that the key is not lost by a stray press. */
export const CreateKeyDialog = ({ currency, onClose }: { currency: string; onClose: () => void }): ReactElement => {
  const { keys } = useI18n().messages;
  const [secret, setSecret] = useState<string>();
  const isDone = secret !== undefined;
  return (
    <Dialog isOpen onClose={onClose} title={isDone ? keys.secretTitle : keys.createTitle} canDismiss={!isDone}>
      {isDone ? (
        <>
          <Secret label={keys.secretLabel} text={keys.secretText} value={secret} />
          <div className="dialog-actions">
            <Button variant="primary" onClick={onClose}>
              {keys.secretDone}
            </Button>
          </div>
        </>
      ) : (
        <CreateKeyForm currency={currency} onCreated={setSecret} />
      )}
    </Dialog>
  );
};

const CreateKeyForm = ({
  currency,
  onCreated,
}: {
  currency: string;
  onCreated: (key: string) => void;
}): ReactElement => {
  const { keys, faults } = useI18n().messages;
  const create = useApiMutation('createKey', { refreshes: ['listKeys'] });
  const form = useForm<NewKeyValues>({
    initial: EMPTY,
    check: (values) => checkNewKey(values, faults.amount),
    submit: async (values) => onCreated((await create.mutateAsync({ body: toCreateKey(values, new Date()) })).key),
  });
  const { values, set, faultOf } = form;
  return (
    <Form form={form} label={keys.createTitle}>
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
        options={(['never', 'days30', 'days90', 'days365'] as const).map((value) => ({
          value,
          label: keys.expiryChoices[value],
        }))}
      />
      <TextField
        label={keys.perMinute}
        hint={keys.perMinuteHint}
        optional
        inputMode="numeric"
        autoComplete="off"
        value={values.requests_per_minute}
        onChange={(count) => set('requests_per_minute', count)}
        fault={faultOf('requests_per_minute')}
      />
      <TextField
        label={keys.monthlyLimit}
        hint={keys.monthlyLimitHint(currency)}
        optional
        inputMode="decimal"
        autoComplete="off"
        value={values.monthly_limit_micros}
        onChange={(amount) => set('monthly_limit_micros', amount)}
        fault={faultOf('monthly_limit_micros')}
      />
      <div className="dialog-actions">
        <Button type="submit" variant="primary" busyLabel={form.isBusy ? keys.creating : undefined}>
          {keys.create}
        </Button>
      </div>
    </Form>
  );
};
