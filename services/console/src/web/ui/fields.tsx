import { type ComponentProps, type ReactElement, type ReactNode, useId, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Icon } from './icon.tsx';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly fault?: string | undefined;
  /** Says so beside the label. */
  readonly optional?: boolean;
  /** The label is for screen readers only, as something nearby says the same. */
  readonly labelHidden?: boolean;
}

interface Wiring {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

/** Label, hint and fault around a control, tied to it for everybody who does not see them. */
const Field = ({
  label,
  hint,
  fault,
  optional = false,
  labelHidden = false,
  children,
}: FieldProps & { children: (wiring: Wiring) => ReactNode }): ReactElement => {
  const { messages } = useI18n();
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
      {fault !== undefined && (
        <p id={`${id}-fault`} className="fault">
          <Icon name="alert" />
          {fault}
        </p>
      )}
    </div>
  );
};

type InputProps = Omit<ComponentProps<'input'>, 'onChange' | 'value' | 'className' | 'id'>;

/** A line of text. */
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

/** A password that can be looked at while it is typed. */
export const PasswordField = ({
  value,
  onChange,
  autoComplete,
  ...field
}: FieldProps & {
  value: string;
  onChange: (value: string) => void;
  autoComplete: 'current-password' | 'new-password';
}): ReactElement => {
  const { messages } = useI18n();
  const [isShown, setShown] = useState(false);
  const { session } = messages;
  return (
    <Field {...field}>
      {(wiring) => (
        <div className="input-row">
          <input
            {...wiring}
            className="input"
            type={isShown ? 'text' : 'password'}
            autoComplete={autoComplete}
            spellCheck={false}
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
      )}
    </Field>
  );
};

/** Several lines of text. */
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

/** One of a few; the browser's own control, as it is the best one on phones. */
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

/** One of a few, each with what it means. */
export const ChoiceField = <T extends string>({
  label,
  value,
  onChange,
  options,
}: {
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: readonly { value: T; label: string; hint: string }[];
}): ReactElement => {
  const name = useId();
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
          />
          <span>
            <span className="choice-label">{option.label}</span>
            <span className="hint">{option.hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
};

/** Leaves out what is not given, as an absent property and one that is undefined differ to the compiler. */
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
