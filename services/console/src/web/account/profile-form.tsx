import type { Locale } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useAccount, useSession } from '../session/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, checkText, Form, SelectField, TextField, useForm } from '../ui/index.ts';
import { NAME_CHARACTERS, toProfileChange, valuesOf } from './profile-values.ts';

const LOCALES: readonly Locale[] = ['it', 'en'];

/** Changes names and language. */
export const ProfileForm = (): ReactElement => {
  const { messages, setLocale } = useI18n();
  const { account: texts, session: sessionTexts, common, shell } = messages;
  const account = useAccount();
  const { call } = useApi();
  const session = useSession();
  const toast = useToast();
  const isBusiness = account.account_type === 'business';
  const form = useForm({
    draft: 'profile',
    initial: valuesOf(account),
    check: ({ display_name, business_name }) => [
      ...checkText('display_name', display_name, { max: NAME_CHARACTERS.display }),
      ...(isBusiness
        ? checkText('business_name', business_name, { required: true, max: NAME_CHARACTERS.business })
        : []),
    ],
    submit: async (values) => {
      const changed = await call('updateAccount', { body: toProfileChange(values, account.account_type) });
      session.updateAccount(changed.account);
      // A language chosen earlier in this browser must not hide the change.
      if (values.locale !== '') setLocale(values.locale);
      form.reset(valuesOf(changed.account));
      toast(common.saved);
    },
  });
  return (
    <Form form={form} label={texts.profile}>
      <TextField
        label={sessionTexts.displayName}
        optional
        autoComplete="name"
        value={form.values.display_name}
        onChange={(name) => form.set('display_name', name)}
        fault={form.faultOf('display_name')}
      />
      {isBusiness && (
        <TextField
          label={sessionTexts.businessName}
          autoComplete="organization"
          value={form.values.business_name}
          onChange={(name) => form.set('business_name', name)}
          fault={form.faultOf('business_name')}
        />
      )}
      <SelectField
        label={texts.language}
        hint={texts.languageHint}
        value={form.values.locale || account.locale}
        onChange={(locale) => form.set('locale', locale)}
        fault={form.faultOf('locale')}
        options={LOCALES.map((value) => ({ value, label: shell.locales[value] }))}
      />
      <Button type="submit" busyLabel={form.isBusy ? common.working : undefined}>
        {common.save}
      </Button>
    </Form>
  );
};
