import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button, Notice } from '../ui/index.ts';

/** Number of codes at which the owner is warned. */
const FEW_CODES = 2;

/** Shows the number of remaining recovery codes. */
export const RecoveryRow = ({ count, onRenew }: { count: number; onRenew: () => void }): ReactElement => {
  const { factors: texts } = useI18n().messages;
  return (
    <li className="row">
      <div className="row-text">
        <p className="row-title">{texts.codes}</p>
        <p className="hint">{texts.codesLeft(count)}</p>
      </div>
      <span className="row-end">
        <Button small onClick={onRenew}>
          {texts.renew}
        </Button>
      </span>
      {count <= FEW_CODES && (
        <Notice tone="warn" title={texts.codesFewTitle}>
          <p>{texts.codesFewText}</p>
        </Notice>
      )}
    </li>
  );
};
