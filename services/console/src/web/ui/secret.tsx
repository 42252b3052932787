import { type ReactElement, useEffect, useId, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button } from './button.tsx';

const SHOWN_MS = 2_500;

/** Copies a text, and shows if that succeeded. */
export const CopyButton = ({
  text,
  label,
  face,
  small = true,
}: {
  text: string;
  label: string;
  /** Text on the button; part of the label. Default: Copy. */
  face?: string;
  small?: boolean;
}): ReactElement => {
  const { messages } = useCoreI18n();
  const [outcome, setOutcome] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (outcome === 'idle') return undefined;
    const timer = setTimeout(() => setOutcome('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('failed'),
    );
  };
  const { common } = messages;
  return (
    <>
      <Button
        small={small}
        icon={outcome === 'copied' ? 'check' : 'copy'}
        onClick={copy}
        aria-label={outcome === 'copied' ? undefined : label}
      >
        {outcome === 'copied' ? common.copied : (face ?? common.copy)}
      </Button>
      <span role="status" className={outcome === 'failed' ? 'hint' : 'visually-hidden'}>
        {outcome === 'copied' && common.copied}
        {outcome === 'failed' && common.copyFailed}
      </span>
    </>
  );
};

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
