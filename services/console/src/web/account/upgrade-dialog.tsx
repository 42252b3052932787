import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Dialog, DialogActions } from '../overlays/index.ts';
import { useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkText, Form, TextField, useForm } from '../ui/index.ts';
import { NAME_CHARACTERS } from './name-characters.ts';

/** Converts a personal account to a business account. The response contains the same session with a new token. */
export const UpgradeDialog = ({ onClose }: { onClose: () => void }): ReactElement => {
  const { account: texts, session: sessionTexts, common } = useI18n().messages;
  const { call } = useApi();
  const session = useSession();
  const toast = useToast();
  const form = useForm({
    draft: 'upgrade',
    initial: { business_name: '' },
    check: ({ business_name }) =>
      checkText('business_name', business_name, { required: true, max: NAME_CHARACTERS.business }),
    submit: async ({ business_name }) => {
      session.adopt(await call('upgradeAccount', { body: { business_name: business_name.trim() } }));
      toast(texts.upgraded);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title={texts.upgrade}>
      <p>{texts.upgradeText}</p>
      <Form form={form} label={texts.upgrade}>
        <TextField
          label={sessionTexts.businessName}
          autoComplete="organization"
          value={form.values.business_name}
          onChange={(name) => form.set('business_name', name)}
          fault={form.faultOf('business_name')}
        />
        <DialogActions>
          <Button type="submit" variant="primary" busyLabel={form.isBusy ? common.working : undefined}>
            {texts.upgradeConfirm}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
};
