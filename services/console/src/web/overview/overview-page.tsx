import type { ReactElement } from 'react';
import { FirstSteps } from '../first-steps/index.ts';
import { useI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import { Page } from '../ui/index.ts';
import { AppsCard } from './apps-card.tsx';
import { PlanHistoryCard } from './plan-history-card.tsx';
import { PlanUsageCard } from './plan-usage-card.tsx';
import { Tiles } from './tiles.tsx';

/** The first page: how much is used, what there is, where to go. */
export const OverviewPage = (): ReactElement => {
  const { overview } = useI18n().messages;
  const { display_name, business_name, account_type } = useAccount();
  const name = display_name ?? business_name;
  return (
    <Page title={overview.title} lead={name === null ? undefined : overview.greeting(name)}>
      <FirstSteps />
      {account_type === 'business' && <AppsCard />}
      <PlanUsageCard />
      <PlanHistoryCard />
      <Tiles />
    </Page>
  );
};
