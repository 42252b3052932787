import { type ReactElement, useEffect, useSyncExternalStore } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Dialog } from '../ui/index.ts';
import type { StepUp } from './step-up.ts';
import { StepUpForm } from './step-up-form.tsx';

/** Asks who the person is while a sensitive act waits for it. */
export const StepUpDialog = ({ stepUp }: { stepUp: StepUp }): ReactElement => {
  const { session: texts } = useI18n().messages;
  const isAsked = useSyncExternalStore(stepUp.subscribe, stepUp.isAsked);
  // Signing out leaves no one to ask.
  useEffect(() => () => stepUp.answer(false), [stepUp]);
  return (
    <Dialog isOpen={isAsked} onClose={() => stepUp.answer(false)} title={texts.stepUpTitle} isInterruption>
      <StepUpForm onProven={() => stepUp.answer(true)} />
    </Dialog>
  );
};
