import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useShowOnce } from '../leave-guard/index.ts';
import { Dialog, DialogActions, OnceOnlyDialog } from '../overlays/index.ts';
import { useIsBusiness } from '../session/index.ts';
import { Button, Form, Secret, SelectField, TextField, useForm } from '../ui/index.ts';
import {
  type Access,
  type Area,
  areasFor,
  checkManagementKey,
  EMPTY_MANAGEMENT_KEY,
  EXPIRIES,
  type ManagementKeyValues,
  SCOPES,
  toManagementKey,
} from './management-key-values.ts';

/** Draft of a new key. */
export const NEW_MANAGEMENT_KEY = 'new-management-key';

const accessesOf = (area: Area): readonly Access[] =>
  SCOPES[area].write === undefined ? ['none', 'read'] : ['none', 'read', 'write'];

/** Creates a management key and shows it once. */
export const CreateManagementKeyDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { keys, managementKeys: texts } = useI18n().messages;
  const isBusiness = useIsBusiness();
  const showOnce = useShowOnce();
  const create = useApiMutation('createManagementKey', {
    refreshes: ['listManagementKeys'],
    shows: ({ key }) => {
      onClose();
      showOnce((close) => (
        <OnceOnlyDialog title={texts.secretTitle} doneLabel={keys.secretDone} onClose={close}>
          <Secret label={texts.secretLabel} text={keys.secretText} value={key} />
        </OnceOnlyDialog>
      ));
    },
  });
  const form = useForm<ManagementKeyValues>({
    draft: NEW_MANAGEMENT_KEY,
    initial: EMPTY_MANAGEMENT_KEY,
    check: (values) => checkManagementKey(values, texts.noScope),
    submit: async (values) => {
      await create.mutateAsync({ body: toManagementKey(values, new Date()) });
    },
  });
  const { values, set, faultOf } = form;
  return (
    <Dialog onClose={onClose} title={texts.createTitle}>
      <Form form={form} label={texts.createTitle}>
        <TextField
          label={keys.name}
          hint={keys.nameHint}
          autoComplete="off"
          value={values.name}
          onChange={(name) => set('name', name)}
          fault={faultOf('name')}
        />
        {areasFor(isBusiness).map((area) => (
          <SelectField
            key={area}
            label={texts.areas[area]}
            value={values[area]}
            onChange={(access) => set(area, access)}
            options={accessesOf(area).map((value) => ({ value, label: texts.accesses[value] }))}
          />
        ))}
        <SelectField
          label={keys.expires}
          value={values.expires_at}
          onChange={(expiry) => set('expires_at', expiry)}
          fault={faultOf('expires_at')}
          options={EXPIRIES.map((value) => ({ value, label: keys.expiryChoices[value] }))}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? keys.creating : undefined}>
            {texts.create}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};
