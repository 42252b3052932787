import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Dialog } from '../overlays/index.ts';
import { StepUpForm } from './step-up-form.tsx';

/** Asks the person to authenticate again. */
export const StepUpDialog = ({
  isOpen,
  onAnswer,
}: {
  isOpen: boolean;
  onAnswer: (isProven: boolean) => void;
}): ReactElement => {
  const { session: texts } = useCoreI18n().messages;
  return (
    <Dialog isOpen={isOpen} onClose={() => onAnswer(false)} title={texts.stepUpTitle} isInterruption>
      <StepUpForm onProven={() => onAnswer(true)} onCancel={() => onAnswer(false)} />
    </Dialog>
  );
};
