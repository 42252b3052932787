import type { Factor } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button, Time } from '../ui/index.ts';

/** Renders a second factor in the list. */
export const FactorRow = ({ factor, onRemove }: { factor: Factor; onRemove: () => void }): ReactElement => {
  const { messages, formats } = useI18n();
  const { factors: texts } = messages;
  return (
    <li className="row">
      <div className="row-text">
        <p className="row-title">{factor.name}</p>
        <p className="hint">
          {factor.name !== texts.types[factor.type] && `${texts.types[factor.type]} · `}
          {texts.added(formats.date(factor.created_at))} ·{' '}
          {factor.last_used_at === null ? (
            texts.neverUsed
          ) : (
            <>
              {texts.lastUsed} <Time at={factor.last_used_at} />
            </>
          )}
        </p>
      </div>
      <span className="row-end">
        <Button small aria-label={texts.removeOf(factor.name)} onClick={onRemove}>
          {texts.remove}
        </Button>
      </span>
    </li>
  );
};
