import { type ReactElement, type ReactNode, useCallback, useDeferredValue, useEffect, useState } from 'react';
import { usePreferences } from '../preferences.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';
import { FirstStepsCard } from './first-steps-card.tsx';
import { useFacts } from './use-facts.ts';

/** After this time the page shows the answers that it has. Later ones may move them. */
const LATE_AFTER_MS = 2_000;

/**
 * Renders the first steps, until the account's owner hides them in this browser, and the children. All of it replaces
 * the placeholder at once, so that nothing moves.
 */
export const FirstSteps = ({
  isReady,
  placeholder,
  children,
}: {
  /** True once the children can be shown. */
  isReady: boolean;
  placeholder: ReactElement;
  /** Receives true while the first steps are shown. */
  children: (isGuided: boolean) => ReactNode;
}): ReactElement => {
  const preferences = usePreferences();
  const account = useAccount();
  const { svc_user_id, account_type } = account;
  const [isDismissed, setDismissed] = useState(() => preferences.firstStepsHiddenBy() === svc_user_id);
  // A member joins an organization that has taken its first steps.
  const isHidden = isDismissed || foreignOrganizationOf(account) !== undefined;
  const known = useFacts({ isBusiness: account_type === 'business', isEnabled: !isHidden });
  const dismiss = useCallback((): void => {
    preferences.hideFirstSteps(svc_user_id);
    setDismissed(true);
  }, [preferences, svc_user_id]);
  // A deferred page is rendered in pieces, between which the browser answers a press.
  const isLate = useIsLate();
  const isShown = useDeferredValue(isLate || (isReady && (isHidden || known !== undefined)));
  const isGuided = isShown && !isHidden && known !== undefined;
  return (
    <>
      {isGuided && <FirstStepsCard known={known} onDismiss={dismiss} />}
      {isShown ? children(isGuided) : placeholder}
    </>
  );
};

const useIsLate = (): boolean => {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LATE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return isLate;
};
