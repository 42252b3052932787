import { type ReactElement, useId } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { CopyButton } from './copy-button.tsx';

/** Shows a secret once, to read, select and copy. It is stored nowhere. */
export const Secret = ({
  label,
  text,
  value,
  shown = value,
}: {
  label: string;
  text: string;
  value: string;
  /** The value in groups, for those who type it. */
  shown?: string;
}): ReactElement => {
  const { messages } = useCoreI18n();
  const id = useId();
  return (
    <div className="secret">
      <p id={`${id}-text`}>{text}</p>
      <label htmlFor={id}>{label}</label>
      <div className="secret-row">
        <input
          id={id}
          className="input mono"
          readOnly
          value={shown}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={`${id}-text`}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={value} label={`${messages.common.copy}: ${label}`} small={false} />
      </div>
    </div>
  );
};
