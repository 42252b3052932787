import { type ReactElement, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { SelectField } from '../ui/index.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';

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
