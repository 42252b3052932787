import type { ReactElement } from 'react';
import { useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { currencyOf, usePlans } from '../subscription/index.ts';
import { Card, Loaded, Page } from '../ui/index.ts';
import { AlertsForm } from './alerts-form.tsx';

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
