import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Dialog } from '../overlays/index.ts';
import { StepUpForm } from './step-up-form.tsx';

/** Asks the person to authenticate again. */
export const StepUpDialog = ({ onAnswer }: { onAnswer: (isProven: boolean) => void }): ReactElement => {
  const { session: texts } = useCoreI18n().messages;
  return (
    <Dialog onClose={() => onAnswer(false)} title={texts.stepUpTitle} isInterruption>
      <StepUpForm onProven={() => onAnswer(true)} />
    </Dialog>
  );
};
