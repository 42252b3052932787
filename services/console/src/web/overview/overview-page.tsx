import type { ReactElement } from 'react';
import { isAwaited, useApiQuery } from '../api/index.ts';
import { FirstSteps } from '../first-steps/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { useAccount, useIsBusiness } from '../session/index.ts';
import { Loading, Page } from '../ui/index.ts';
import { AppsCard } from './apps-card.tsx';
import { PlanHistoryCard } from './plan-history-card.tsx';
import { PlanUsageCard } from './plan-usage-card.tsx';
import { Tiles } from './tiles.tsx';

/** Shows the first page: use, apps, and links. */
export const OverviewPage = (): ReactElement => {
  const { overview } = useCoreI18n().messages;
  const { display_name, business_name } = useAccount();
  const name = display_name ?? business_name;
  const isBusiness = useIsBusiness();
  const isReady = useIsReady(isBusiness);
  const hasNoPlan = useApiQuery('getSubscription', {}).data?.subscription === null;
  return (
    <Page title={overview.title} lead={name === null ? undefined : overview.greeting(name)}>
      <FirstSteps isReady={isReady} placeholder={<Placeholder />}>
        {(isGuided) => (
          <>
            <Tiles />
            {isBusiness && <AppsCard />}
            {/* The first steps already offer a plan. */}
            {!(isGuided && hasNoPlan) && <PlanUsageCard />}
            {/* Last, as it grows once its chart is here. */}
            <PlanHistoryCard />
          </>
        )}
      </FirstSteps>
    </Page>
  );
};

/** Reads what decides on the height of the cards. Returns true once all of it is known, or has failed. */
const useIsReady = (isBusiness: boolean): boolean => {
  const subscription = useApiQuery('getSubscription', {});
  const usage = useApiQuery('getSubscriptionUsage', {});
  const apps = useApiQuery('listApps', {}, { enabled: isBusiness });
  return !isAwaited(subscription) && !isAwaited(usage) && !(isBusiness && isAwaited(apps));
};

const Placeholder = (): ReactElement => (
  <div className="card placeholder">
    <Loading lines={8} />
  </div>
);
