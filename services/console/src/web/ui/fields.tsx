import { type ComponentProps, type ReactElement, type ReactNode, useId, useRef, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon } from './icon.tsx';
import { PasswordMeter, type PasswordOwner } from './password-meter.tsx';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly fault?: string | undefined;
  /** Marks the field as optional beside its label. */
  readonly optional?: boolean;
  /** Hides the label visually, if nearby text states the same. */
  readonly labelHidden?: boolean;
}

interface Wiring {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

/** Renders label, hint and fault around a control, and associates them for screen readers. */
const Field = ({
  label,
  hint,
  fault,
  optional = false,
  labelHidden = false,
  children,
}: FieldProps & { children: (wiring: Wiring) => ReactNode }): ReactElement => {
  const { messages } = useCoreI18n();
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className="field">
      <label htmlFor={id} className={labelHidden ? 'visually-hidden' : undefined}>
        {label}
        {optional && <span className="optional"> ({messages.common.optional})</span>}
      </label>
      {children({
        id,
        ...(described === '' ? {} : { 'aria-describedby': described }),
        ...(fault === undefined ? {} : { 'aria-invalid': true }),
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
      {fault !== undefined && <FaultLine id={`${id}-fault`}>{fault}</FaultLine>}
    </div>
  );
};

type InputProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'className' | 'id'>;

/** Renders a line of text. */
export const TextField = ({
  label,
  hint,
  fault,
  optional,
  labelHidden,
  value,
  onChange,
  ...rest
}: FieldProps & InputProps & { value: string; onChange: (value: string) => void }): ReactElement => (
  <Field {...pickField({ label, hint, fault, optional, labelHidden })}>
    {(wiring) => (
      <input
        {...rest}
        {...wiring}
        className="input"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )}
  </Field>
);

/** Renders a password field that can reveal its text. With an `owner`, a new password gets a strength meter. */
export const PasswordField = ({
  value,
  onChange,
  autoComplete,
  owner,
  ...field
}: FieldProps & {
  value: string;
  onChange: (value: string) => void;
  autoComplete: 'current-password' | 'new-password';
  owner?: PasswordOwner;
}): ReactElement => {
  const input = useRef<HTMLInputElement>(null);
  const { messages } = useCoreI18n();
  const [isShown, setShown] = useState(false);
  const { session } = messages;
  return (
    <Field {...field}>
      {(wiring) => (
        <>
          <div className="input-row">
            <input
              ref={input}
              {...wiring}
              className="input"
              type={isShown ? 'text' : 'password'}
              autoComplete={autoComplete}
              spellCheck={false}
              autoCapitalize="none"
              value={value}
              onChange={(event) => onChange(event.currentTarget.value)}
            />
            <button
              type="button"
              className="button button-quiet"
              aria-controls={wiring.id}
              aria-label={isShown ? session.hidePassword : session.showPassword}
              onClick={() => setShown(!isShown)}
            >
              {isShown ? session.hide : session.show}
            </button>
          </div>
          {owner !== undefined && <PasswordMeter field={input} owner={owner} />}
        </>
      )}
    </Field>
  );
};

/** Renders several lines of text. */
export const TextArea = ({
  value,
  onChange,
  rows = 3,
  ...field
}: FieldProps & { value: string; onChange: (value: string) => void; rows?: number }): ReactElement => (
  <Field {...field}>
    {(wiring) => (
      <textarea
        {...wiring}
        className="input"
        rows={rows}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )}
  </Field>
);

/** Renders a choice as the browser's native control, which works best on phones. */
export const SelectField = <T extends string>({
  value,
  onChange,
  options,
  ...field
}: FieldProps & {
  value: T;
  onChange: (value: T) => void;
  options: readonly { value: T; label: string }[];
}): ReactElement => (
  <Field {...field}>
    {(wiring) => (
      <div className="select">
        <select
          {...wiring}
          className="input"
          value={value}
          onChange={(event) => {
            const chosen = options.find((option) => option.value === event.currentTarget.value);
            if (chosen !== undefined) onChange(chosen.value);
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
        <Icon name="chevron" />
      </div>
    )}
  </Field>
);

/** Renders a choice with an explanation of each option. */
export const ChoiceField = <T extends string>({
  label,
  value,
  onChange,
  options,
  fault,
}: {
  label: string;
  /** Undefined until one is chosen. */
  value: T | undefined;
  onChange: (value: T) => void;
  options: readonly { value: T; label: string; hint: string }[];
  fault?: string | undefined;
}): ReactElement => {
  const name = useId();
  const wiring = fault === undefined ? {} : ({ 'aria-invalid': true, 'aria-describedby': `${name}-fault` } as const);
  return (
    <fieldset className="choices">
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option.value} className="choice">
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            {...wiring}
          />
          <span>
            <span className="choice-label">{option.label}</span>
            <span className="hint">{option.hint}</span>
          </span>
        </label>
      ))}
      {fault !== undefined && <FaultLine id={`${name}-fault`}>{fault}</FaultLine>}
    </fieldset>
  );
};

const FaultLine = ({ id, children }: { id: string; children: string }): ReactElement => (
  <p id={id} className="fault">
    <Icon name="alert" />
    {children}
  </p>
);

/** Omits undefined properties, which the compiler distinguishes from absent ones. */
const pickField = ({
  label,
  hint,
  fault,
  optional,
  labelHidden,
}: {
  label: string;
  hint: string | undefined;
  fault: string | undefined;
  optional: boolean | undefined;
  labelHidden: boolean | undefined;
}): FieldProps => ({
  label,
  hint,
  fault,
  ...(optional === undefined ? {} : { optional }),
  ...(labelHidden === undefined ? {} : { labelHidden }),
});
