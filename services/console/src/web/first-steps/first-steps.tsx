import { lazy, type ReactElement, Suspense, useCallback, useState } from 'react';
import { usePreferences } from '../preferences.ts';
import { useAccount } from '../session/index.ts';
import { Loading } from '../ui/index.ts';

const FirstStepsCard = lazy(async () => ({ default: (await import('./first-steps-card.tsx')).FirstStepsCard }));

/** The first steps, until the account's owner has hidden them in this browser. */
export const FirstSteps = (): ReactElement | null => {
  const preferences = usePreferences();
  const { svc_user_id } = useAccount();
  const [isHidden, setHidden] = useState(() => preferences.firstStepsHiddenBy() === svc_user_id);
  const dismiss = useCallback((): void => {
    preferences.hideFirstSteps(svc_user_id);
    setHidden(true);
  }, [preferences, svc_user_id]);
  if (isHidden) return null;
  return (
    <Suspense
      fallback={
        <div className="card">
          <Loading lines={6} />
        </div>
      }
    >
      <FirstStepsCard onDismiss={dismiss} />
    </Suspense>
  );
};
