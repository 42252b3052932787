import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useToast } from '../toasts/index.ts';
import { Button, Card, Form, useForm } from '../ui/index.ts';

/** Mails the link that confirms the address of the account. */
export const VerifyEmailCard = (): ReactElement => {
  const { account: texts } = useI18n().messages;
  const { call } = useApi();
  const toast = useToast();
  const form = useForm({
    initial: {},
    submit: async () => {
      await call('requestVerification', {});
      toast(texts.verifyMailed);
    },
  });
  return (
    <Card title={texts.verifyTitle} lead={texts.verifyLead}>
      <Form form={form} label={texts.verifyTitle}>
        <Button type="submit" busyLabel={form.isBusy ? texts.verifyMailing : undefined}>
          {texts.verifyMail}
        </Button>
      </Form>
    </Card>
  );
};
