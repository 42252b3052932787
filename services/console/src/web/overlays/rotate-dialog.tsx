import { AlertDialog } from '@base-ui/react/alert-dialog';
import { type ReactElement, type ReactNode, useRef, useState } from 'react';
import { useCoreI18n, useI18n } from '../i18n/index.ts';
import { Button, ErrorNotice, SelectField, useFocusAfterwards } from '../ui/index.ts';
import { useWork } from './dialog.tsx';

interface ConfirmDialogProps {
  readonly onClose: () => void;
  readonly title: string;
  readonly text: string;
  readonly confirmLabel: string;
  readonly busyLabel: string;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
  readonly isDangerous?: boolean;
  /** False until a required text is typed. */
  readonly canConfirm?: boolean;
  readonly error?: unknown;
  readonly children?: ReactNode;
}

/** Asks for confirmation of an irreversible action. Cancel has the focus, and Escape cancels unless the action is under way. */
export const ConfirmDialog = (props: ConfirmDialogProps): ReactElement => {
  const { messages } = useCoreI18n();
  const cancel = useRef<HTMLButtonElement>(null);
  useFocusAfterwards();
  const isWorking = useWork();
  const { isBusy, canConfirm = true } = props;
  return (
    <AlertDialog.Root open onOpenChange={(isOpen) => !isOpen && !isWorking && props.onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog" initialFocus={cancel}>
          <AlertDialog.Title className="dialog-title">{props.title}</AlertDialog.Title>
          <AlertDialog.Description className="dialog-text">{props.text}</AlertDialog.Description>
          {props.children}
          {props.error != null && <ErrorNotice error={props.error} />}
          <div className="dialog-actions">
            <Button ref={cancel} onClick={props.onClose} disabled={isWorking}>
              {messages.common.cancel}
            </Button>
            <Button
              variant={props.isDangerous === true ? 'danger' : 'primary'}
              busyLabel={isBusy ? props.busyLabel : undefined}
              disabled={!canConfirm}
              onClick={props.onConfirm}
            >
              {props.confirmLabel}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
};

/** Seconds for which a replaced secret stays valid, by choice. */
export const OVERLAP_SECONDS = { hour: 3_600, day: 86_400, week: 604_800, now: 0 } as const;

export type Overlap = keyof typeof OVERLAP_SECONDS;

const CHOICES: readonly Overlap[] = ['hour', 'day', 'week', 'now'];

/** Asks for confirmation of a new secret, and how long the old one stays valid. Default: a day. */
export const RotateDialog = ({
  title,
  text,
  choices = CHOICES,
  rotation,
  onConfirm,
  onClose,
}: {
  title: string;
  text: string;
  choices?: readonly Overlap[];
  rotation: { readonly isPending: boolean; readonly error: unknown };
  onConfirm: (overlap: Overlap) => void;
  onClose: () => void;
}): ReactElement => {
  const { overlap } = useI18n().messages;
  const [chosen, setChosen] = useState<Overlap>('day');
  return (
    <ConfirmDialog
      onClose={onClose}
      title={title}
      text={text}
      confirmLabel={overlap.rotate}
      busyLabel={overlap.rotating}
      isBusy={rotation.isPending}
      isDangerous={chosen === 'now'}
      error={rotation.error}
      onConfirm={() => onConfirm(chosen)}
    >
      <SelectField
        label={overlap.label}
        value={chosen}
        onChange={setChosen}
        options={choices.map((value) => ({ value, label: overlap.choices[value] }))}
      />
    </ConfirmDialog>
  );
};
