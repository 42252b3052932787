import { type ReactElement, Suspense, useEffect, useSyncExternalStore } from 'react';
import { useOnDemand } from '../ui/index.ts';
import type { StepUp } from './step-up.ts';

const loadDialog = async () => (await import('./step-up-dialog.tsx')).StepUpDialog;

/** Asks the person to authenticate again while a sensitive action waits for it. */
export const StepUpQuestion = ({ stepUp }: { stepUp: StepUp }): ReactElement | null => {
  const isAsked = useSyncExternalStore(stepUp.subscribe, stepUp.isAsked);
  const { component: StepUpDialog, request } = useOnDemand(loadDialog);
  useEffect(() => {
    if (isAsked) void request().then((isLoaded) => !isLoaded && stepUp.answer(false));
  }, [isAsked, request, stepUp]);
  // Signing out leaves no one to ask.
  useEffect(() => () => stepUp.answer(false), [stepUp]);
  if (!isAsked) return null;
  const waiting = <div className="backdrop" />;
  if (StepUpDialog === undefined) return waiting;
  return (
    <Suspense fallback={waiting}>
      <StepUpDialog onAnswer={stepUp.answer} />
    </Suspense>
  );
};
